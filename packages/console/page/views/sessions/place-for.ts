import type { Store } from "../../data/store.ts";

/**
 * Where a stored session is opened: in the console's own process, which nobody ends by closing an editor, with the
 * folder of the process that listed it.
 */
export const placeFor = ({ me, processes }: Pick<Store, "me" | "processes">, listedBy: string) => ({
  process: me.value?.process ?? listedBy,
  root: processes.value?.find(({ id }) => id === listedBy)?.roots[0],
});
