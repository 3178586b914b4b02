import { createLock } from "@octant/host";

const GIVE_UP_MS = 300;

/** Locks a session's log against other processes; the kernel releases the lock when this process dies. */
export async function lockSession(file: string): Promise<() => Promise<void>> {
  const doing = "working in this session";
  const lock = createLock(`${file}.lock`, { doing, place: "the folder of sessions", giveUpMs: GIVE_UP_MS });
  const held = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const done = lock.hold(() => {
    held.resolve();
    return closed.promise;
  });
  done.catch(held.reject);
  try {
    await held.promise;
  } catch (cause) {
    await lock.close();
    throw cause;
  }
  return async () => {
    closed.resolve();
    await done;
    await lock.close();
  };
}
