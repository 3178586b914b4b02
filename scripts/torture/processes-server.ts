import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { FixtureProject } from "../../test/fixture-project.ts";
import { LAUNCHER } from "../../test/published-command.ts";
import { isRunning, listDescendants, look, type Seen, untilEmpty } from "./processes-table.ts";

/** `octant serve` in a project, with the official client on its pipes. */
export interface ServedProject extends AsyncDisposable {
  readonly pid: number;
  /** The envelope; rejects when it exceeds the client's limit, or the server goes away. */
  call(tool: string, action: string, input?: object): Promise<Answer>;
  /** The data of a call that must succeed. */
  data(tool: string, action: string, input?: object): Promise<AnyData>;
  supervisor(): Seen;
  closeInput(): void;
  /** How long the process took to exit. */
  gone(patienceMs: number): Promise<number>;
}

export interface Answer {
  readonly ok: boolean;
  readonly data: AnyData;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly meta: { readonly job_id?: string };
}

// biome-ignore lint/suspicious/noExplicitAny: the data of any action; what is looked at is compared with what is wanted.
export type AnyData = any;

/** The default of clients. */
export const CLIENT_LIMIT_MS = 60_000;

export async function serveProject(
  { root, env }: FixtureProject,
  { limitMs = CLIENT_LIMIT_MS }: { readonly limitMs?: number } = {},
): Promise<ServedProject> {
  const client = new Client({ name: "torture", version: "1" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [LAUNCHER, "serve"],
    cwd: root,
    env: env as Record<string, string>, // Missing values are unset variables.
  });
  await client.connect(transport);
  const { pid } = transport;
  const self = pid === null ? undefined : look(pid);
  if (pid === null || !self) throw new Error("the server did not start");

  const call = async (tool: string, action: string, input: object = {}) => {
    const options = { timeout: limitMs, maxTotalTimeout: limitMs };
    const result = await client.callTool({ name: tool, arguments: { action, ...input } }, options);
    return result.structuredContent as unknown as Answer; // Octant's envelope.
  };
  return {
    pid,
    call,
    async data(tool, action, input) {
      const { ok, data, error } = await call(tool, action, input);
      if (!ok) throw new Error(`${tool}.${action}: ${error?.code} ${error?.message}`);
      return data;
    },
    supervisor() {
      const [found] = listDescendants(pid).filter(({ ppid }) => ppid === pid);
      if (!found) throw new Error("no command was run yet");
      return found;
    },
    closeInput: () => void client.close(),
    async gone(patienceMs) {
      return (await untilEmpty(() => (isRunning(self) ? [self] : []), patienceMs)).ms;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
