import { createInterface } from "node:readline";
import { type OctantOptions, startOctant } from "./octant-process.ts";

export interface Answer {
  readonly ok: boolean;
  readonly data: Record<string, unknown> | null;
  readonly error: { readonly code: string; readonly message: string; readonly details: unknown } | null;
  readonly meta: Record<string, unknown>;
}

export interface McpSession extends AsyncDisposable {
  readonly pid: number;
  /** The server's stderr output. */
  log(): string;
  call(tool: string, args: object): Promise<Answer>;
  exec(command: string | readonly string[], more?: object): Promise<Answer>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** The command over MCP stdio, as a client starts it. */
export async function startSession(
  args: readonly string[],
  options: OctantOptions,
  clientInfo = { name: "test", version: "1" },
): Promise<McpSession> {
  const child = startOctant(["serve", ...args], options);
  const waiting = new Map<number, (message: { result: { structuredContent: Answer } }) => void>();
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let log = "";
  let id = 0;
  child.stderr.on("data", (text: Buffer) => {
    log += text;
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method: string, params: object) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ result: { structuredContent: Answer } }>();
    id += 1;
    waiting.set(id, resolve);
    send({ id, method, params });
    void exited.then(() => reject(new Error(`the server has ended: ${log}`)));
    return promise;
  };
  await ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo,
  });
  send({ method: "notifications/initialized" });
  const call: McpSession["call"] = async (name, input) =>
    (await ask("tools/call", { name, arguments: input })).result.structuredContent;
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
  };
  return {
    pid: child.pid!,
    log: () => log,
    call,
    exec: (command, more = {}) => call("proc", { action: "exec", command, ...more }),
    kill,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await exited;
    },
  };
}
