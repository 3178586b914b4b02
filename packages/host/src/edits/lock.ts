import { truncateSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "@octant/core";
import { isBusy, isDamaged } from "../sqlite/database.ts";

const BUSY_TIMEOUT_MS = 2;
const RETRY_MS = 5;
const GIVE_UP_MS = 10_000;

export interface LockOptions {
  /** The holder's operation, for the error message of a waiter. */
  readonly doing?: string;
  /** The file's location, for the error message. */
  readonly place?: string;
  readonly giveUpMs?: number;
}

/**
 * One holder at a time among all processes that use the same file; a dying process releases it. The lock is SQLite's
 * own on an empty database: the kernel drops it with the process, which no lock file does, and Node offers no other
 * way to a kernel lock.
 */
export function createLock(file: string, options: LockOptions = {}) {
  const { doing = "editing", place = "Octant's state folder", giveUpMs = GIVE_UP_MS } = options;
  let database: DatabaseSync | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const close = () => {
    database?.close();
    database = undefined;
  };
  /** False while another process holds it. */
  const tryOnce = (isRepaired = false): boolean => {
    try {
      database ??= openDatabase(file);
      database.exec("BEGIN IMMEDIATE");
      return true;
    } catch (cause) {
      if (isBusy(cause)) return false;
      if (isDamaged(cause) && !isRepaired) {
        close();
        // It holds no data. Emptied in place, it stays the file that other processes lock.
        truncateSync(file);
        return tryOnce(true);
      }
      const message = `the lock in ${place} cannot be used; check that the folder can be written and the disk has space`;
      throw new ToolError("IO_ERROR", message, {}, { cause });
    }
  };
  const begin = async (signal?: AbortSignal): Promise<void> => {
    const deadline = performance.now() + giveUpMs;
    while (!tryOnce()) {
      if (performance.now() > deadline)
        throw new ToolError("LOCKED", `another Octant process is ${doing}; try again`, {});
      await delay(RETRY_MS, undefined, { signal });
    }
  };
  const end = () => {
    try {
      database?.exec("ROLLBACK");
    } catch {
      // Closing releases it in any case; the next holder reopens it.
      close();
    }
  };

  return {
    /** Runs `work` alone. Waiting ends with LOCKED after a while, or with the signal. */
    async hold<T>(work: () => Promise<T> | T, signal?: AbortSignal): Promise<T> {
      const before = last;
      const { promise, resolve: letNextIn } = Promise.withResolvers<void>();
      last = promise;
      await before;
      try {
        signal?.throwIfAborted();
        await begin(signal);
        try {
          return await work();
        } finally {
          end();
        }
      } finally {
        letNextIn();
      }
    },
    /** Closes as soon as it is free. */
    async close(): Promise<void> {
      await last;
      close();
    },
  };
}

function openDatabase(file: string): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    // Nothing is ever written, so a journal on the disk would cost time, and fail when the disk is full.
    database.exec("PRAGMA journal_mode = MEMORY");
    return database;
  } catch (cause) {
    database.close();
    throw cause;
  }
}
