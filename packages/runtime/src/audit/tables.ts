import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { isDamaged, openDatabase } from "@octant/host";
import { type Position, startOf } from "./chain-check.ts";
import { type AuditKey, seal, unseal } from "./seal.ts";

/**
 * A chain is one SQLite file, `CHAIN.db`, which all processes of a workspace append to. A writer begins another only
 * where the newest one is missing, damaged or was tampered with.
 */
export const chainFile = (chain: string): string => `${chain}.db`;

const CHAIN_FILE = /^(\d{8}T\d{9}Z-[0-9a-f]{8})\.db$/;

export const newChainName = (now: Date): string =>
  `${now.toISOString().replace(/[-:.]/g, "")}-${randomBytes(4).toString("hex")}`;

/** Oldest first; other files are ignored. */
export const listChains = (folder: string): string[] =>
  readdirSync(folder)
    .flatMap((name) => CHAIN_FILE.exec(name)?.[1] ?? [])
    .sort();

/** The files of the log of an earlier version, which is not read. */
export const listOlderFiles = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.endsWith(".jsonl"));

/** The versions of the tables of a chain. */
const MIGRATIONS = [
  `CREATE TABLE records (seq INTEGER PRIMARY KEY, record TEXT NOT NULL) STRICT;
  CREATE TABLE ends (name TEXT PRIMARY KEY, sealed TEXT NOT NULL) STRICT, WITHOUT ROWID;`,
];

export const openTables = (folder: string, chain: string): DatabaseSync =>
  openDatabase(join(folder, chainFile(chain)), "the audit log", MIGRATIONS);

/** SQLite's code for a statement that does not fit the tables. */
const SQL_ERROR = 1;

/** Whether the file or its tables are not as Octant wrote them. */
export const isBroken = (cause: unknown): boolean =>
  isDamaged(cause) || (cause instanceof Error && "errcode" in cause && cause.errcode === SQL_ERROR);

/** `first` is the position before the oldest record, which retention moves; `last` is that of the newest record. */
type EndName = "first" | "last";

export interface ChainEnd extends Position {
  readonly chain: string;
}

export const encodeEnd = (key: AuditKey, name: EndName, { chain, seq, last }: ChainEnd): string =>
  seal(key, JSON.stringify({ name, chain, seq, last })).text;

/** Undefined when it was changed or is missing. `first` is there only after records were removed. */
export function readEnd(db: DatabaseSync, key: AuditKey, chain: string, name: EndName): ChainEnd | undefined {
  const sealed = db.prepare("SELECT sealed FROM ends WHERE name = ?").get(name)?.["sealed"];
  if (sealed === undefined && name === "first") return { chain, ...startOf(key, chain) };
  return parseEnd(key, chain, name, sealed);
}

/** Undefined when it was changed. */
export function parseEnd(key: AuditKey, chain: string, name: EndName, sealed: unknown): ChainEnd | undefined {
  // Only encodeEnd can have sealed it.
  const end = unseal(key, sealed) as (ChainEnd & { readonly name: string }) | undefined;
  return end?.name === name && end.chain === chain ? end : undefined;
}
