import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { createLock } from "@octant/host";

/**
 * A lock that a hub holds while its process lives: the kernel drops it with the process. Hubs of the same folder notice
 * a killed one by it at once, instead of when its time is over.
 */
export function createProcessLocks(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fileOf = (hub_id: string) => join(folder, `${hub_id}.lock`);
  const open = (hub_id: string) => createLock(fileOf(hub_id), { place: folder, giveUpMs: 0 });
  return {
    async hold(hub_id: string): Promise<AsyncDisposable> {
      const lock = open(hub_id);
      const { promise: isHeld, resolve: onHeld, reject } = Promise.withResolvers<void>();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const holding = lock.hold(() => {
        onHeld();
        return released;
      });
      holding.catch(reject);
      await isHeld;
      return {
        async [Symbol.asyncDispose]() {
          release();
          await holding;
          await lock.close();
          rmSync(fileOf(hub_id), { force: true });
        },
      };
    },
    /** Whether the process of a hub of this folder has ended. */
    async isDead(hub_id: string): Promise<boolean> {
      const lock = open(hub_id);
      try {
        await lock.hold(() => rmSync(fileOf(hub_id), { force: true }));
        return true;
      } catch (cause) {
        if (cause instanceof ToolError && cause.code === "LOCKED") return false;
        throw cause;
      } finally {
        await lock.close();
      }
    },
  };
}
