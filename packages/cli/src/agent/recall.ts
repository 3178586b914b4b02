import { createSessionStore, searchSessions } from "@octant/agent";
import type { Workspace } from "@octant/host";
import type { Recalled, RecallRequest } from "@octant/tools";
import { sessionsFolder } from "./sessions-folder.ts";

/** Owners are identified by digests; other remote callers have no sessions. */
const OWNER_ID = /^\w[\w-]*$/;

/** Searches the sessions of this workspace; a remote caller sees only its own. */
export const createRecall =
  ({ state }: Pick<Workspace, "state">) =>
  async ({ caller, ...request }: RecallRequest): Promise<readonly Recalled[]> => {
    if (caller.remote && !OWNER_ID.test(caller.id)) return [];
    const folder = sessionsFolder(state, caller.remote ? caller : undefined);
    const found = await searchSessions(createSessionStore({ folder }), request);
    return found.map(({ session_id, seq, who, snippet, score }) => ({
      uri: `session:${session_id}#${seq}`,
      kind: who,
      snippet,
      score,
    }));
  };
