import type { Context, Registry } from "@octant/core";
import type { Workspace } from "@octant/host";
import type { Recalled, RecallRequest } from "@octant/tools";
import { z } from "zod";

type Recall = (request: RecallRequest) => Promise<readonly Recalled[]>;

/** Owners are identified by digests; other remote callers have no sessions. */
const OWNER_ID = /^\w[\w-]*$/;

/** Searches the sessions of this workspace; a remote caller sees only its own. */
export const createRecall =
  (workspace: Pick<Workspace, "state">): Recall =>
  async ({ caller, ...request }) => {
    if (caller.remote && !OWNER_ID.test(caller.id)) return [];
    const { openSessions } = await import("./sessions.ts");
    const found = await openSessions(workspace, caller.remote ? caller : undefined).search(request);
    return found.map(({ session_id, seq, who, snippet, score }) => ({
      uri: `session:${session_id}#${seq}`,
      kind: who,
      snippet,
      score,
    }));
  };

const Memories = z.object({ memories: z.array(z.object({ memory_id: z.string(), text: z.string() })) });

/** Adds matching memories, where the memory tool is enabled, before the matches from sessions. */
export const withMemories =
  (registry: Registry, sessions: Recall): Recall =>
  async (request) => {
    const { query, also, limit, caller, signal } = request;
    const recall = registry.get("memory")?.actions["recall"];
    if (!recall) return sessions(request);
    // memory.recall uses only the caller and the signal of its context.
    const context = { caller, signal } as Context;
    const found = Memories.parse(await recall.run(recall.input.parse({ query, also, limit }), context));
    const remembered = found.memories.map(({ memory_id, text }, at) => ({
      uri: `memory:${memory_id}`,
      kind: "memory",
      snippet: text,
      score: 1 / (at + 1),
    }));
    return [...remembered, ...(await sessions(request))].slice(0, limit);
  };
