import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "@octant/core";

const BUSY_TIMEOUT_MS = 2;
const RETRY_MS = 5;
const GIVE_UP_MS = 10_000;
const SQLITE_BUSY = 5;

/** One holder at a time, among all processes that use the same file. A process that dies lets go. */
export interface Lock {
  /** Runs `work` alone. Waiting ends with LOCKED after a while, or with the signal. */
  hold<T>(work: () => Promise<T> | T, signal?: AbortSignal): Promise<T>;
  /** Closes as soon as nobody holds it. */
  close(): Promise<void>;
}

/**
 * The lock is SQLite's own on an empty database: the kernel drops it with the process, which no lock file does, and
 * Node offers no other way to a kernel lock.
 */
export function createLock(file: string, giveUpMs = GIVE_UP_MS): Lock {
  let database: Promise<Database> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const begin = async (signal?: AbortSignal): Promise<Database> => {
    database ??= openDatabase(file).catch((cause) => {
      database = undefined;
      throw cause;
    });
    const opened = await database;
    await acquire(opened.begin, giveUpMs, signal);
    return opened;
  };
  const end = (opened: Database) => {
    try {
      opened.end();
    } catch {
      // Closing lets go in any case; the next one opens it again.
      database = undefined;
      opened.close();
    }
  };

  return {
    async hold(work, signal) {
      const before = last;
      const { promise, resolve: letNextIn } = Promise.withResolvers<void>();
      last = promise;
      await before;
      let held: Database | undefined;
      try {
        signal?.throwIfAborted();
        held = await begin(signal);
        return await work();
      } finally {
        // In the next turn: the answer to the caller leaves first.
        setImmediate(() => {
          if (held) end(held);
          letNextIn();
        });
      }
    },
    async close() {
      await last;
      (await database)?.close();
      database = undefined;
    },
  };
}

interface Database {
  begin(): void;
  end(): void;
  close(): void;
}

async function openDatabase(file: string): Promise<Database> {
  const { DatabaseSync } = await import("node:sqlite");
  try {
    const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    // Nothing is ever written, so a journal on the disk would cost time, and fail when the disk is full.
    database.exec("PRAGMA journal_mode = MEMORY");
    const begin = database.prepare("BEGIN IMMEDIATE");
    const end = database.prepare("ROLLBACK");
    return { begin: () => begin.run(), end: () => end.run(), close: () => database.close() };
  } catch (cause) {
    throw unusable(cause);
  }
}

async function acquire(begin: () => void, giveUpMs: number, signal?: AbortSignal): Promise<void> {
  const deadline = performance.now() + giveUpMs;
  while (!tryOnce(begin)) {
    if (performance.now() > deadline) {
      throw new ToolError("LOCKED", "another Octant process is editing; try again", {});
    }
    await delay(RETRY_MS, undefined, { signal });
  }
}

function tryOnce(begin: () => void): boolean {
  try {
    begin();
    return true;
  } catch (cause) {
    if (cause instanceof Error && "errcode" in cause && cause.errcode === SQLITE_BUSY) return false;
    throw unusable(cause);
  }
}

const unusable = (cause: unknown) =>
  new ToolError(
    "IO_ERROR",
    "the lock in Octant's state folder cannot be used; check that the folder can be written and the disk has space",
    {},
    { cause },
  );
