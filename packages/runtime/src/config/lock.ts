import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "@octant/core";

const BUSY_TIMEOUT_MS = 2;
const RETRY_MS = 5;
const GIVE_UP_MS = 10_000;
const SQLITE_BUSY = 5;

/**
 * Runs `work` while no other process does, as far as they use the same file. The lock is SQLite's on an empty
 * database: the kernel drops it with the process, which no lock file does.
 */
export async function withLock<T>(file: string, work: () => T): Promise<T> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.exec("PRAGMA journal_mode = MEMORY");
    const deadline = performance.now() + GIVE_UP_MS;
    while (!begins(() => database.exec("BEGIN IMMEDIATE"))) {
      if (performance.now() > deadline)
        throw new ToolError("LOCKED", "another Octant process is writing settings; try again", {});
      await delay(RETRY_MS);
    }
    return work();
  } finally {
    database.close();
  }
}

function begins(begin: () => void): boolean {
  try {
    begin();
    return true;
  } catch (cause) {
    if (cause instanceof Error && "errcode" in cause && cause.errcode === SQLITE_BUSY) return false;
    throw cause;
  }
}
