import { join } from "node:path";
import { ToolError } from "@octant/core";
import { createLock } from "@octant/host";

/** Makes this process the only hub, or host, on the folder. The kernel drops the lock with the process, however that ends. */
export async function lockFolder(
  folder: string,
  waitMs = 0,
  who: "hub" | "host" = "hub",
): Promise<AsyncDisposable> {
  const lock = createLock(join(folder, "lock.db"), { place: folder, giveUpMs: waitMs });
  const { promise: isHeld, resolve: onHeld, reject } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const holding = lock
    .hold(async () => {
      onHeld();
      await released;
    })
    .catch(reject);
  try {
    await isHeld;
  } catch (cause) {
    await lock.close();
    if (!(cause instanceof ToolError && cause.code === "LOCKED")) throw cause;
    const message = `another ${who} runs on ${folder}; stop it, or give this one another folder (--folder)`;
    throw new ToolError("LOCKED", message, {}, { cause });
  }
  return {
    async [Symbol.asyncDispose]() {
      release();
      await holding;
      await lock.close();
    },
  };
}
