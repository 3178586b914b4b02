import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "@octant/core";

const BUSY_TIMEOUT_MS = 2;
const RETRY_MS = 5;
const GIVE_UP_MS = 10_000;
const SQLITE_BUSY = 5;

/** One holder at a time among all processes that use the same file. A dying process releases it. */
export interface Lock {
  /** Runs `work` alone. Waiting ends with LOCKED after a while, or with the signal. */
  hold<T>(work: () => Promise<T> | T, signal?: AbortSignal): Promise<T>;
  /** Closes as soon as it is free. */
  close(): Promise<void>;
}

export interface LockOptions {
  /** The holder's operation, for the error message of a waiter. */
  readonly doing?: string;
  /** The file's location, for the error message. */
  readonly place?: string;
  readonly giveUpMs?: number;
}

/**
 * The lock is SQLite's own on an empty database: the kernel drops it with the process, which no lock file does, and
 * Node offers no other way to a kernel lock.
 */
export function createLock(file: string, options: LockOptions = {}): Lock {
  const { doing = "editing", place = "Octant's state folder", giveUpMs = GIVE_UP_MS } = options;
  let database: Promise<Database> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const begin = async (signal?: AbortSignal): Promise<Database> => {
    database ??= openDatabase(file).catch((cause) => {
      database = undefined;
      throw unusable(place, cause);
    });
    const opened = await database;
    const deadline = performance.now() + giveUpMs;
    while (!tryOnce(opened.begin, place)) {
      if (performance.now() > deadline)
        throw new ToolError("LOCKED", `another Octant process is ${doing}; try again`, {});
      await delay(RETRY_MS, undefined, { signal });
    }
    return opened;
  };
  const end = (opened: Database) => {
    try {
      opened.end();
    } catch {
      // Closing releases it in any case; the next holder reopens it.
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
        if (held) end(held);
        letNextIn();
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
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  // Nothing is ever written, so a journal on the disk would cost time, and fail when the disk is full.
  database.exec("PRAGMA journal_mode = MEMORY");
  const begin = database.prepare("BEGIN IMMEDIATE");
  const end = database.prepare("ROLLBACK");
  return { begin: () => begin.run(), end: () => end.run(), close: () => database.close() };
}

function tryOnce(begin: () => void, place: string): boolean {
  try {
    begin();
    return true;
  } catch (cause) {
    if (cause instanceof Error && "errcode" in cause && cause.errcode === SQLITE_BUSY) return false;
    throw unusable(place, cause);
  }
}

const unusable = (place: string, cause: unknown) =>
  new ToolError(
    "IO_ERROR",
    `the lock in ${place} cannot be used; check that the folder can be written and the disk has space`,
    {},
    { cause },
  );
