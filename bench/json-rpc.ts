import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

const NEWLINE = 0x0a;
const METHOD_KEY = Buffer.from('"method"');
/** A notification starts with its method; deep inside an answer the word may be anything. */
const NOTIFICATION_HEAD_BYTES = 64;
const PROTOCOL_VERSION = "2025-11-25";

export type Command = readonly [program: string, ...args: string[]];

/** A server under test, spoken to line by line: the client's own cost is small and the same for both sides. */
export interface RpcServer extends AsyncDisposable {
  readonly pid: number;
  /** Sends one message and resolves with the bytes of the next answer; one at a time. */
  exchange(line: string): Promise<Buffer>;
  /** Sends all messages, at most `width` unanswered at any time; resolves with the last answer. */
  stream(lines: readonly string[], width: number): Promise<Buffer>;
  /** The result of a request, parsed; an error answer is thrown. */
  request(method: string, params?: object): Promise<Record<string, unknown>>;
  /** Closes its input and waits for it to exit: a killed server stores no compile cache. */
  finish(): Promise<void>;
}

const toLine = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

/** Concurrent calls need unique ids. */
export const toCallLine = (name: string, args: object, id = 1): string =>
  toLine({ id, method: "tools/call", params: { name, arguments: args } });

/** Starts the server and performs the handshake of a current client. */
export async function startServer([program, ...args]: Command, env: NodeJS.ProcessEnv): Promise<RpcServer> {
  const child = spawn(program, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  const server = toRpcServer(child);
  const clientInfo = { name: "octant-bench", version: "1" };
  await server.request("initialize", { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo });
  child.stdin.write(toLine({ method: "notifications/initialized" }));
  return server;
}

function toRpcServer(child: ChildProcess & { stdin: Writable; stdout: Readable }): RpcServer {
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  const kill = () => child.kill("SIGKILL");
  // First of all listeners: the server's files must not outlive it, or the temp folder is never empty.
  process.prependListener("exit", kill);
  let onAnswer = (_line: Buffer) => {};
  let onFailure = (_cause: Error) => {};
  child.stdout.on(
    "data",
    createAnswerSplitter((line) => onAnswer(line)),
  );
  child.on("error", (cause) => onFailure(cause));
  let end: Error | undefined;
  child.on("exit", (code, signal) => {
    end = new Error(`the server ended (${signal ?? code})`);
    onFailure(end);
  });
  child.stdin.on("error", (cause) => onFailure(cause));

  const stream = (lines: readonly string[], width: number) =>
    new Promise<Buffer>((resolve, reject) => {
      let sent = Math.min(width, lines.length);
      let answered = 0;
      if (end) return reject(end);
      onFailure = reject;
      onAnswer = (line) => {
        answered++;
        if (sent < lines.length) child.stdin.write(lines[sent++]);
        else if (answered === lines.length) resolve(line);
      };
      for (const line of lines.slice(0, sent)) child.stdin.write(line);
    });
  const exchange = (line: string) => stream([line], 1);

  return {
    pid: child.pid ?? 0,
    stream,
    exchange,
    async request(method, params = {}) {
      const answer = JSON.parse((await exchange(toLine({ id: 1, method, params }))).toString());
      if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
      return answer.result;
    },
    async finish() {
      onFailure = () => {};
      child.stdin.end();
      await ended;
    },
    async [Symbol.asyncDispose]() {
      onFailure = () => {};
      process.off("exit", kill);
      kill();
      await ended;
    },
  };
}

/** Nothing is parsed while a clock runs. */
function createAnswerSplitter(onAnswer: (line: Buffer) => void): (chunk: Buffer) => void {
  let kept: Buffer[] = [];
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      kept.push(chunk.subarray(start, end));
      const line = kept.length === 1 && kept[0] ? kept[0] : Buffer.concat(kept);
      kept = [];
      start = end + 1;
      if (!line.subarray(0, NOTIFICATION_HEAD_BYTES).includes(METHOD_KEY)) onAnswer(line);
    }
    if (start < chunk.length) kept.push(chunk.subarray(start));
  };
}
