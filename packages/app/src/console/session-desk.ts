import type { Agent } from "@octant/agent";
import { invalidArgument, type SessionMode, ToolError } from "@octant/core";
import type { OpenedAgent, SessionChoice } from "../agent/open-agent.ts";

export interface DeskOptions {
  /** The folders of the process, for sessions that name no other. */
  readonly roots: readonly string[];
  /** With the API keys of the providers. */
  readonly env: NodeJS.ProcessEnv;
  log(line: string): void;
}

export interface DeskRequest {
  readonly root?: string | undefined;
  readonly from?: SessionChoice;
  readonly model?: string | undefined;
  readonly mode?: SessionMode | undefined;
}

/** Each has a workspace and connections of its own. */
const MAX_OPEN = 20;

/** The sessions that the console opened in this process. Each has a control socket, as the agent in a terminal has. */
export type SessionDesk = ReturnType<typeof createSessionDesk>;

export function createSessionDesk({ roots, env, log }: DeskOptions) {
  const opened = new Map<string, OpenedAgent>();
  const makeRoom = async () => {
    if (opened.size < MAX_OPEN) return;
    const idle = opened.entries().find(([, { agent }]) => !agent.isRunning);
    if (!idle)
      throw new ToolError("LIMIT_EXCEEDED", `${MAX_OPEN} sessions are working here; stop one first`, {
        limit: MAX_OPEN,
      });
    opened.delete(idle[0]);
    await idle[1][Symbol.asyncDispose]();
  };
  return {
    /** A session that is open here already is returned as it is. */
    async open({ root, from, model, mode }: DeskRequest): Promise<Agent> {
      const known = from?.how === "resume" ? opened.get(from.id) : undefined;
      if (known) return known.agent;
      await makeRoom();
      const { openAgent } = await import("../agent/open-agent.ts");
      const places = root === undefined ? roots : [root];
      if (places.length === 0) throw invalidArgument("root", "root: name the folder to work in");
      const one = await openAgent({ roots: places, env, from, model, mode, log, command: "session" });
      opened.set(one.agent.session.id, one);
      return one.agent;
    },
    async close(): Promise<void> {
      const all = [...opened.values()];
      opened.clear();
      await Promise.all(all.map((one) => one[Symbol.asyncDispose]()));
    },
  };
}
