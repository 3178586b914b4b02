import { closeSync, fchmodSync, fstatSync, openSync, renameSync, rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { refuseNewer, ToolError } from "@octant/core";

const BUSY_TIMEOUT_MS = 5_000;
const IN_MEMORY = ":memory:";
const FOR_OTHERS = 0o077;

export interface DatabaseUse<T> {
  /** Names the data in error messages. */
  readonly what: string;
  open(): T;
  /** Called with every newly opened database. */
  onOpen?(db: T): void;
  /** Called when the file is damaged, to move it aside; the work then runs again on a new file. */
  onDamage?(): void;
}

/** A database that is opened at its first use. SQLite detects damage when it reads a page, so any use may reveal it. */
export function createDatabase<T extends { close(): void }>({
  what,
  open,
  onOpen,
  onDamage,
}: DatabaseUse<T>) {
  let opened: T | undefined;
  const openOnce = (): T => {
    if (opened) return opened;
    opened = open();
    onOpen?.(opened);
    return opened;
  };
  const close = () => {
    opened?.close();
    opened = undefined;
  };
  return {
    close,
    /** Runs the work; an SQLite error that the machine causes becomes a ToolError. */
    use<R>(work: (db: T) => R): R {
      try {
        try {
          return work(openOnce());
        } catch (cause) {
          if (!onDamage || !isDamaged(cause)) throw cause;
          close();
          onDamage();
          return work(openOnce());
        }
      } catch (cause) {
        throw toDatabaseError(what, cause);
      }
    },
  };
}

/**
 * Opens a database that several processes share, and brings its tables up to date. Each migration brings it to the
 * next version, which `PRAGMA user_version` counts. Released migrations never change, and later ones only add: a
 * server of an older version may have the same file open. Commits survive a killed process; see `durably` for more.
 */
export function openDatabase(file: string, what: string, migrations: readonly string[]): DatabaseSync {
  // Loaded here because many servers never open a database.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  openPrivate(file);
  const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    db.exec("PRAGMA journal_size_limit = 16777216; PRAGMA foreign_keys = ON");
    migrate(db, what, migrations);
    return db;
  } catch (cause) {
    db.close();
    throw cause;
  }
}

/**
 * SQLite would create a file that every user can read, wherever the folder allows it; -wal and -shm copy its mode. An
 * older file may still have that mode.
 */
function openPrivate(file: string): void {
  if (file === IN_MEMORY) return;
  try {
    const descriptor = openSync(file, "a", 0o600);
    try {
      if ((fstatSync(descriptor).mode & FOR_OTHERS) !== 0) fchmodSync(descriptor, 0o600);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // SQLite opens it next, and reports why that fails.
  }
}

function migrate(db: DatabaseSync, what: string, migrations: readonly string[]): void {
  const versionNow = () => Number(db.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
  if (versionNow() === migrations.length) return;
  inTransaction(db, () => {
    // Another process may have migrated the file meanwhile.
    const version = versionNow();
    refuseNewer(version, migrations.length, `${what} of this workspace`);
    for (const sql of migrations.slice(version)) db.exec(sql);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

/** All of it or nothing. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (cause) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw cause;
  }
}

/** Commits of the work are on the disk when it returns, and with them all commits before. */
export function durably<T>(db: DatabaseSync, work: () => T): T {
  db.exec("PRAGMA synchronous = FULL");
  try {
    return work();
  } finally {
    db.exec("PRAGMA synchronous = NORMAL");
  }
}

/** Moves a damaged database aside and returns its new path; undefined when another process has already replaced it. */
export function setAside(file: string): string | undefined {
  if (isIntact(file)) return undefined;
  const aside = `${file}.damaged-${Date.now()}`;
  renameSync(file, aside);
  for (const side of ["-wal", "-shm"]) rmSync(`${file}${side}`, { force: true });
  return aside;
}

function isIntact(file: string): boolean {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const db = new DatabaseSync(file);
  try {
    return db.prepare("PRAGMA integrity_check(1)").get()?.["integrity_check"] === "ok";
  } catch (cause) {
    if (isDamaged(cause)) return false;
    throw cause;
  } finally {
    db.close();
  }
}

/** The result codes of SQLite that a machine can cause; the low byte is the kind. */
const CODES = {
  BUSY: 5,
  READ_ONLY: 8,
  IO_ERROR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANNOT_OPEN: 14,
  NOT_A_DATABASE: 26,
};

const isCode = (cause: unknown, ...names: readonly (keyof typeof CODES)[]): boolean =>
  cause instanceof Error &&
  "errcode" in cause &&
  names.some((name) => CODES[name] === (Number(cause.errcode) & 0xff));

export const isBusy = (cause: unknown): boolean => isCode(cause, "BUSY");
export const isDamaged = (cause: unknown): boolean => isCode(cause, "CORRUPT", "NOT_A_DATABASE");

/** The typed error for the caller; an error that is not SQLite's is returned unchanged. */
export function toDatabaseError(what: string, cause: unknown): unknown {
  if (isCode(cause, "FULL")) {
    const message = "the disk with the state folder is full; make room and call again";
    return new ToolError("NO_SPACE", message, {}, { cause });
  }
  if (isBusy(cause))
    return new ToolError("LOCKED", `another process holds ${what}; call again`, {}, { cause });
  if (!isDamaged(cause) && !isCode(cause, "READ_ONLY", "IO_ERROR", "CANNOT_OPEN")) return cause;
  const message = `${what} in the state folder cannot be used; octant doctor shows where it is`;
  return new ToolError("IO_ERROR", message, {}, { cause });
}
