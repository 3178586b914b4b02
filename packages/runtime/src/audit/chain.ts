import { statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { ToolError } from "@octant/core";
import { inTransaction } from "@octant/host";
import { ChainCheck, startOf } from "./chain-check.ts";
import type { AuditEntry } from "./record.ts";
import { type AuditKey, seal } from "./seal.ts";
import {
  type ChainEnd,
  chainFile,
  encodeEnd,
  isBroken,
  listChains,
  newChainName,
  openTables,
  parseEnd,
  readEnd,
} from "./tables.ts";
import { writeWitness } from "./witness.ts";

export interface ChainOptions {
  readonly folder: string;
  readonly key: AuditKey;
  /** Beyond this size, the oldest records are removed. */
  readonly keepBytes: number;
  /** The folder of the chain's witness, outside `folder`. */
  readonly witnesses?: string | undefined;
  warn(message: string): void;
}

/** The size is checked after so many bytes. */
const CHECK_BYTES = 1024 * 1024;
/** Removed at once; a caller may be waiting. */
const MAX_DROPPED_BYTES = 16 * CHECK_BYTES;

export type Chain = ReturnType<typeof openChain>;

/**
 * Continues the newest chain, or begins another. Its methods throw SQLite's error, or IO_ERROR, when records are not
 * on the disk; then only `close` is left to do.
 */
export function openChain(options: ChainOptions) {
  const { folder, key, keepBytes, witnesses, warn } = options;
  const { db, ...found } = openNewest(folder, key);
  const { chain } = found;
  const path = join(folder, chainFile(chain));
  const { ino } = statSync(path);
  const getLast = db.prepare(`${ENDS} WHERE name = 'last'`);
  const insert = db.prepare("INSERT INTO records VALUES (?, ?) ON CONFLICT DO NOTHING");
  const setEnd = db.prepare("INSERT OR REPLACE INTO ends VALUES (?, ?)");
  let end: ChainEnd = found;
  let sealedEnd = "";
  let unchecked = 0;

  const write = (entries: readonly AuditEntry[], first?: ChainEnd) =>
    inTransaction(db, () => {
      const isOurs = getLast.get()?.["sealed"] === sealedEnd;
      let { seq, last } = (isOurs ? end : findEnd(db, key, chain)) ?? refuse("was changed");
      if (first) {
        db.prepare("DELETE FROM records WHERE seq <= ?").run(first.seq);
        setEnd.run("first", encodeEnd(key, "first", first));
      }
      for (const entry of entries) {
        seq += 1;
        // The JSON of the entry with its place in the chain.
        const sealed = seal(key, `{"seq":${seq},"prev":"${last}",${JSON.stringify(entry).slice(1)}`);
        if (insert.run(seq, sealed.text).changes === 0) refuse("was changed");
        last = sealed.hash;
        unchecked += sealed.text.length;
      }
      end = { chain, seq, last };
      sealedEnd = encodeEnd(key, "last", end);
      setEnd.run("last", sealedEnd);
    });
  const dropOldest = () => {
    unchecked = 0;
    const surplus = Math.min(usedBytes(db) - keepBytes, MAX_DROPPED_BYTES);
    const from = readEnd(db, key, chain, "first");
    const first = surplus > 0 && from ? findFirst(from, surplus) : undefined;
    if (!from || !first) return;
    write([{ kind: "dropped", time: new Date().toISOString(), records: first.seq - from.seq }], first);
    db.exec("PRAGMA incremental_vacuum");
  };
  /** The end of the oldest records of this size; undefined when they were tampered with, which `verify` reports. */
  const findFirst = (from: ChainEnd, bytes: number): ChainEnd | undefined => {
    let isSound = true;
    const check = new ChainCheck(key, from, () => {
      isSound = false;
    });
    let left = bytes;
    // The last record stays, because `last` names it.
    for (const { record } of db.prepare(`${RECORDS} WHERE seq < ? ORDER BY seq`).iterate(end.seq)) {
      if (left <= 0 || !isSound) break;
      check.next(record);
      left -= String(record).length;
    }
    if (!isSound) warn("old records of the audit log were changed; they stay, so it exceeds its size limit");
    return isSound && check.position.seq > from.seq ? { chain, ...check.position } : undefined;
  };
  const remember = () => witnesses !== undefined && writeWitness(witnesses, key, end);

  try {
    write([{ kind: "open", time: new Date().toISOString(), pid: process.pid }]);
    dropOldest();
    remember();
  } catch (cause) {
    db.close();
    throw cause;
  }
  return {
    /** Returns the place of the last one, `seq@chain`. */
    append(entries: readonly AuditEntry[]): string {
      // Otherwise the records would vanish with the last open descriptor.
      if (statSync(path, { throwIfNoEntry: false })?.ino !== ino) refuse("was removed while it was written");
      write(entries);
      return `${end.seq}@${chain}`;
    },
    /** Brings the log within its size limit from time to time. */
    trim(): void {
      if (unchecked >= CHECK_BYTES) dropOldest();
    },
    close(): void {
      try {
        remember();
      } finally {
        db.close();
      }
    },
  };
}

const RECORDS = "SELECT record FROM records";
const ENDS = "SELECT sealed FROM ends";
const NEWEST = `SELECT (${RECORDS} ORDER BY seq DESC LIMIT 1) AS record, (${ENDS} WHERE name = 'last') AS sealed`;

function refuse(what: string): never {
  throw new ToolError("IO_ERROR", `the audit log ${what}; a new one is begun at the next try`, {});
}

const pragma = (db: DatabaseSync, name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);

const usedBytes = (db: DatabaseSync): number =>
  (pragma(db, "page_count") - pragma(db, "freelist_count")) * pragma(db, "page_size");

function openNewest(folder: string, key: AuditKey): ChainEnd & { readonly db: DatabaseSync } {
  const newest = listChains(folder).at(-1);
  const found = newest === undefined ? undefined : openSound(folder, key, newest);
  if (found) return found;
  const chain = newChainName(new Date());
  return { db: openTables(folder, chain), chain, ...startOf(key, chain) };
}

/** Undefined for a chain that is damaged or was tampered with; it is left unchanged, so that verification finds it. */
function openSound(folder: string, key: AuditKey, chain: string) {
  let db: DatabaseSync | undefined;
  try {
    db = openTables(folder, chain);
    const end = findEnd(db, key, chain);
    if (end) return { db, ...end };
    db.close();
  } catch (cause) {
    db?.close();
    if (!isBroken(cause)) throw cause;
  }
  return undefined;
}

/** The position after the last record; undefined when the chain was tampered with. */
function findEnd(db: DatabaseSync, key: AuditKey, chain: string): ChainEnd | undefined {
  const { record, sealed } = db.prepare(NEWEST).get() ?? {};
  // Its writer may have been killed before the first record.
  if (record === null && sealed === null) return { chain, ...startOf(key, chain) };
  const end = parseEnd(key, chain, "last", sealed);
  return end && String(record).endsWith(`${end.last}"}`) ? end : undefined;
}
