import type { Caller } from "@octant/core";
import type { Workspace } from "@octant/host";

/** Every remote owner has a folder of its own; its name is a digest. */
export const sessionsFolder = (state: Workspace["state"], owner: Caller | undefined): string =>
  state.folder(owner ? `owners/${owner.id}` : "sessions");
