import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createOctant, LOCAL_CALLER, type OpenAgentOptions } from "@octant/app";
import { createZmqClient, serveZmq } from "@octant/wire";
import type { FixtureProject } from "./fixture-project.ts";

/**
 * Where the tools of a session run: in its own process, or behind `--host ipc://…`. The general scenarios run on both;
 * these run on one:
 *
 * | scenario | host | why |
 * |---|---|---|
 * | each provider's API, thinking, credentials, output schemas | local | the model is on the session's side of both |
 * | search in earlier sessions, `octant sessions` | local | sessions are stored on this side, by folder or by address |
 * | modes `edits` and `sandbox`, `/commit`, `/permissions` | local | refused with a remote host, whose rules decide |
 * | sub-agents of an MCP server (crew.test.ts) | local | a server has no `--host` |
 * | the loop (loop.test.ts) | neither | its tools are scripted |
 * | a host that dies (remote-host.test.ts) | remote | a local one dies with its session (agent-kills.test.ts) |
 */
export const AGENT_HOSTS = ["local", "remote"] as const;
export type AgentHost = (typeof AGENT_HOSTS)[number];

export interface SessionPlace extends AsyncDisposable {
  readonly cwd: string;
  /** Of the command. */
  readonly flags: readonly string[];
  /** The option `host` of `openAgent`. */
  connect(): Promise<OpenAgentOptions["host"]>;
}

/**
 * The place in which a session of the project runs. The remote one is a server of this process with a real socket, which
 * saves the start of another process; the session's own folder is empty.
 */
export async function placeSession(
  kind: AgentHost,
  { root, env }: Pick<FixtureProject, "root" | "env">,
): Promise<SessionPlace> {
  if (kind === "local")
    return { cwd: root, flags: [], connect: async () => undefined, async [Symbol.asyncDispose]() {} };
  const cwd = join(root, "..", "elsewhere");
  const sockets = join(root, "..", "sockets");
  mkdirSync(cwd, { recursive: true });
  mkdirSync(sockets, { recursive: true, mode: 0o700 });
  const address = `ipc://${sockets}/host`;
  const octant = createOctant({ roots: [root], env, permissions: "host" });
  const { workspace, wireDispatch: dispatch } = octant;
  const serving = { ...octant, dispatch, jobs: workspace.jobs, caller: LOCAL_CALLER };
  const server = await serveZmq({ ...serving, address, name: "octant", version: "1", log: () => {} });
  return {
    cwd,
    flags: ["--host", address],
    async connect() {
      const client = createZmqClient({ address });
      await client.ready();
      return { address, dispatch: client.dispatch, close: () => client.close() };
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await octant.close();
    },
  };
}
