import type { Caller } from "@octant/core";
import type { Workspace } from "@octant/host";

/** Each remote owner has its own folder, named by a digest. */
export const sessionsFolder = (state: Workspace["state"], owner: Caller | undefined): string =>
  state.folder(owner ? `owners/${owner.id}` : "sessions");
