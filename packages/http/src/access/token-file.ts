import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { isFields, refuseNewer } from "@octant/core";
import { isScope, type Scope } from "./scopes.ts";

/** A stored token; the token itself cannot be derived from it. */
export interface TokenRecord {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** SHA-256 of the token, in hex. */
  readonly hash: string;
  /** RFC 3339. */
  readonly created: string;
  readonly expires?: string;
}

const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

/** The token file, which all processes share. */
export const readTokens = (path: string): readonly TokenRecord[] => readRows(path).filter(isRecord);

/** Rows of another version are not valid tokens here; they stay in the file. */
const readRows = (path: string): readonly unknown[] =>
  existsSync(path) ? parseRows(readFileSync(path, "utf8")) : [];

const VERSION = 1;

/** Replaces the records atomically. */
export function changeTokens(
  path: string,
  edit: (records: readonly TokenRecord[]) => readonly TokenRecord[],
): void {
  mkdirSync(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER });
  using _lock = lock(path);
  const rows = readRows(path);
  const tokens = [...rows.filter((row) => !isRecord(row)), ...edit(rows.filter(isRecord))];
  replaceDurably(path, `${JSON.stringify({ version: VERSION, tokens }, null, 2)}\n`);
}

/** For the holder of the lock: a revoked token stays revoked even after a power failure. */
function replaceDurably(path: string, text: string): void {
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode: OWNER_ONLY, flag: "wx", flush: true });
  renameSync(draft, path);
  // Windows cannot open folders, and needs none of this.
  if (process.platform === "win32") return;
  const folder = openSync(dirname(path), constants.O_DIRECTORY);
  fsyncSync(folder);
  closeSync(folder);
}

/** Throws when the file is not valid: continuing without tokens would silently lock everybody out. */
function parseRows(text: string): readonly unknown[] {
  const value: unknown = JSON.parse(text);
  const { version, tokens } = isFields(value) ? value : {};
  refuseNewer(version, VERSION, "the token file");
  if (!Array.isArray(tokens) || !tokens.every((row) => isFields(row) && typeof row["id"] === "string"))
    throw new TypeError("the token file is damaged; move it away and make new tokens");
  return tokens;
}

const isRecord = (value: unknown): value is TokenRecord =>
  isFields(value) &&
  [value["id"], value["name"], value["hash"], value["created"]].every((one) => typeof one === "string") &&
  (value["expires"] === undefined || typeof value["expires"] === "string") &&
  Array.isArray(value["scopes"]) &&
  value["scopes"].every((scope) => typeof scope === "string" && isScope(scope));

/** An older lock was left by a process that died: a change takes milliseconds. */
const STALE_LOCK_MS = 5_000;

function lock(path: string): Disposable {
  const name = `${path}.lock`;
  const release = { [Symbol.dispose]: () => rmSync(name, { force: true }) };
  const age = Date.now() - (statSync(name, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  if (age > STALE_LOCK_MS) rmSync(name, { force: true });
  try {
    closeSync(openSync(name, "wx", OWNER_ONLY));
  } catch (cause) {
    throw new Error("another process is changing the tokens; try again", { cause });
  }
  return release;
}
