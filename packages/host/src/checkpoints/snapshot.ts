import { lstatSync, type Stats } from "node:fs";
import { type Hash, ToolError } from "@octant/core";
import { toBlob } from "../blobs/blobs.ts";
import type { Confinement, FileKind } from "../confinement.ts";
import type { ChangedKind } from "../edits/changed-kind.ts";
import { MAX_EDIT_BYTES, readEntry } from "../edits/read-before.ts";
import { errnoOf } from "../errno.ts";
import { byteStringToPath } from "../files/byte-string.ts";
import { type Visitor, type WalkEntry, walk } from "../files/walk.ts";
import { readRefs } from "../git/refs.ts";
import { outermost, type Path, toNative } from "../path.ts";
import { hasCode } from "../system-error.ts";
import type { Contents } from "./contents.ts";

/**
 * Why an entry is known to exist, but cannot be restored: of a folder, nothing inside is known. The content of a
 * repository is the list of its refs.
 */
export type Omission = "ignored" | "unreadable" | "special" | "too large" | "repository";

/** One entry at the time of the snapshot. Its content is stored under its hash. */
export interface SnapshotEntry {
  readonly kind: ChangedKind;
  readonly mode: number;
  /** null when the content is not stored. */
  readonly hash: Hash | null;
  readonly omitted: Omission | null;
  /** The lstat result; while it is the same, so is the content. */
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
}

/** Everything in the workspace, by absolute path, except what lies below omitted folders. */
export type Snapshot = ReadonlyMap<Path, SnapshotEntry>;

export interface SnapshotOptions {
  readonly confinement: Confinement;
  readonly contents: Pick<Contents, "put" | "flush">;
  /** For all files together. */
  readonly maxBytes: number;
  readonly env: NodeJS.ProcessEnv;
  /** The last snapshot and its start time: unchanged files are not read again. */
  readonly previous: Snapshot;
  readonly previousBegan: number;
  readonly signal?: AbortSignal;
}

/** A file changed this shortly before a snapshot started could change again without a new timestamp. */
const TIMESTAMP_GRANULARITY_MS = 20;

export async function takeSnapshot(options: SnapshotOptions): Promise<Map<Path, SnapshotEntry>> {
  const { entries, changed } = lookAgain(options) ?? (await lookAround(options));
  for (const path of changed.keys()) entries.delete(path);
  let room = options.maxBytes - bytesOf(entries);
  for (const [path, look] of changed) {
    options.signal?.throwIfAborted();
    const entry = snapshotEntry(options, path, look, room);
    if (!entry) continue;
    if (!entry.omitted) room -= entry.size;
    entries.set(path, entry);
  }
  options.contents.flush();
  return entries;
}

function bytesOf(entries: Snapshot): number {
  let sum = 0;
  for (const { omitted, size } of entries.values()) if (!omitted) sum += size;
  return sum;
}

/** An entry that was found, and is yet to be read. */
interface Look {
  readonly kind: ChangedKind;
  readonly stat: Stats | "hidden";
  readonly omitted: Omission | null;
}

interface Seen {
  readonly entries: Map<Path, SnapshotEntry>;
  readonly changed: Map<Path, Look>;
}

/**
 * While no folder has changed, every name is where it was, and one lstat per entry detects changes. undefined when
 * the tree must be walked: a folder or a file with ignore rules has changed.
 */
function lookAgain({ previous, previousBegan, confinement }: SnapshotOptions): Seen | undefined {
  if (!confinement.roots.every((root) => previous.has(root))) return undefined;
  const changed = new Map<Path, Look>();
  for (const [path, known] of previous) {
    const { kind, omitted } = known;
    if (omitted === "ignored" && kind === "directory") continue;
    const stat = statOf(toNative(path));
    if (omitted !== "repository" && isUnchanged(known, stat, previousBegan)) continue;
    const isFile = typeof stat === "object" && (stat.isFile() || omitted === "repository");
    if (kind !== "file" || !isFile || IGNORE_FILE.test(path)) return undefined;
    const isStillOmitted = omitted === "ignored" || omitted === "repository";
    changed.set(path, { kind, stat, omitted: isStillOmitted ? omitted : null });
  }
  return { entries: new Map(previous), changed };
}

const IGNORE_FILE = /\/\.(?:git|rg)?ignore$/;

async function lookAround({
  confinement,
  env,
  previous,
  previousBegan,
  signal,
}: SnapshotOptions): Promise<Seen> {
  const entries = new Map<Path, SnapshotEntry>();
  const changed = new Map<Path, Look>();
  const add = (path: Path, place: string | Buffer, found: FileKind, why: Omission | null) => {
    const stat = statOf(place);
    if (stat === "gone") return;
    const kind = isStorable(found) ? found : undefined;
    const omitted = why ?? (stat === "hidden" ? "unreadable" : kind ? null : "special");
    const known = previous.get(path);
    if (known && isKnown(known, omitted) && isUnchanged(known, stat, previousBegan)) {
      entries.set(path, known);
      return;
    }
    entries.delete(path);
    changed.set(path, { kind: omitted === "repository" ? "file" : (kind ?? "file"), stat, omitted });
  };
  for (const root of outermost(confinement.roots)) {
    add(root, toNative(root), "directory", null);
    const addEntry = ({ parent, names, kind }: WalkEntry, why: Omission | null) => {
      const name = byteStringToPath(names.at(-1) ?? "");
      add(`${parent.path === "/" ? "" : parent.path}/${name}`, parent.at(name), kind, why);
    };
    const visitor: Visitor = {
      list(entry) {
        addEntry(entry, null);
        return true;
      },
      enters: () => true,
      omits: addEntry,
    };
    await walk(confinement, { env, folder: root, includeIgnored: false, signal }, visitor);
  }
  return { entries, changed };
}

/** hidden: in a folder that cannot be searched. */
function statOf(place: string | Buffer): Stats | "gone" | "hidden" {
  try {
    return lstatSync(place, { throwIfNoEntry: false }) ?? "gone";
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return "hidden";
  }
}

const isStorable = (kind: FileKind): kind is ChangedKind =>
  kind === "file" || kind === "directory" || kind === "symlink";

/** Whether a known entry need not be read again. Refs are always read: they change without their folder. */
const isKnown = (known: SnapshotEntry, omitted: Omission | null): boolean =>
  omitted !== "repository" &&
  (known.omitted === omitted || (omitted === null && known.omitted === "too large"));

function isUnchanged(known: SnapshotEntry, stat: Stats | "gone" | "hidden", began: number): boolean {
  return (
    typeof stat === "object" &&
    known.size === stat.size &&
    known.mtimeMs === stat.mtimeMs &&
    known.ctimeMs === stat.ctimeMs &&
    known.ino === stat.ino &&
    stat.ctimeMs < began - TIMESTAMP_GRANULARITY_MS
  );
}

/** undefined when the entry is gone meanwhile. */
function snapshotEntry(
  { confinement, contents }: SnapshotOptions,
  path: Path,
  { kind, stat, omitted }: Look,
  room: number,
): SnapshotEntry | undefined {
  const { mode, size, mtimeMs, ctimeMs, ino } = stat === "hidden" ? NO_STAT : stat;
  const look = { kind, mode: mode & 0o7777, size, mtimeMs, ctimeMs, ino };
  const omit = (why: Omission) => ({ ...look, hash: null, omitted: why });
  if (omitted === "repository") {
    const refs = toBlob(Buffer.from(readRefs(confinement, path)));
    contents.put(refs);
    return { ...omit(omitted), hash: refs.hash };
  }
  // Only its existence is recorded, not its content.
  if (omitted === "ignored" && kind === "directory") return { ...omit(omitted), ...NO_STAT, mode: look.mode };
  if (omitted) return omit(omitted);
  if (kind === "file" && size > Math.min(MAX_EDIT_BYTES, room)) return omit("too large");
  try {
    const found = readEntry(confinement, kind, path);
    if (found?.path !== path) return omit("unreadable");
    if (kind !== "directory") contents.put(found);
    return { ...look, hash: found.hash, omitted: null };
  } catch (cause) {
    if (hasCode(cause, "NOT_FOUND", "NOT_A_DIRECTORY")) return undefined;
    if (cause instanceof ToolError || errnoOf(cause) !== undefined) return omit("unreadable");
    throw cause;
  }
}

const NO_STAT = { mode: 0, size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0 };
