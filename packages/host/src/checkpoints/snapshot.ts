import { lstatSync, type Stats } from "node:fs";
import { type Hash, ToolError } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import type { ChangedKind } from "../edits/changed-kind.ts";
import { MAX_EDIT_BYTES, readEntry } from "../edits/existing-file.ts";
import { errnoOf } from "../errno.ts";
import { byteStringToPath } from "../files/byte-string.ts";
import { type Visitor, walk } from "../files/walk.ts";
import { outermost, type Path, toNative } from "../path.ts";
import type { Contents } from "./contents.ts";

/** One file, link or folder at the time of the snapshot. Its content is stored under its hash. */
export interface SnapshotEntry {
  readonly kind: ChangedKind;
  readonly mode: number;
  /** null for a file that is too large to store, alone or in total. */
  readonly hash: Hash | null;
  /** The lstat result; while it is the same, so is the content. */
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
}

/** Everything in the workspace that ignore files do not exclude, by absolute path. */
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
  for (const { path } of changed) entries.delete(path);
  let room = options.maxBytes - bytesOf(entries);
  for (const { path, kind, stat } of changed) {
    options.signal?.throwIfAborted();
    const entry = snapshotEntry(options, path, kind, stat, room);
    if (!entry) continue;
    if (entry.hash !== null) room -= entry.size;
    entries.set(path, entry);
  }
  options.contents.flush();
  return entries;
}

function bytesOf(entries: Snapshot): number {
  let sum = 0;
  for (const { hash, size } of entries.values()) if (hash !== null) sum += size;
  return sum;
}

interface Seen {
  readonly entries: Map<Path, SnapshotEntry>;
  readonly changed: { readonly path: Path; readonly kind: ChangedKind; readonly stat: Stats }[];
}

/**
 * While no folder has changed, every name is where it was, and one lstat per entry detects changes. undefined when
 * the tree must be walked: a folder or a file with ignore rules has changed.
 */
function lookAgain({ previous, previousBegan, confinement }: SnapshotOptions): Seen | undefined {
  if (!confinement.roots.every((root) => previous.has(root))) return undefined;
  const changed: Seen["changed"] = [];
  for (const [path, known] of previous) {
    const stat = lstatSync(toNative(path), { throwIfNoEntry: false });
    if (stat && isUnchanged(known, stat, previousBegan)) continue;
    if (!stat || known.kind !== "file" || !stat.isFile() || IGNORE_FILE.test(path)) return undefined;
    changed.push({ path, kind: "file", stat });
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
  const seen: Seen = { entries: new Map(), changed: [] };
  const add = (path: Path, kind: ChangedKind, stat: Stats) => {
    const known = previous.get(path);
    if (known && isUnchanged(known, stat, previousBegan)) seen.entries.set(path, known);
    else seen.changed.push({ path, kind, stat });
  };
  for (const root of outermost(confinement.roots)) {
    add(root, "directory", lstatSync(toNative(root)));
    const visitor: Visitor = {
      list({ parent, names, kind }) {
        if (kind !== "file" && kind !== "symlink" && kind !== "directory") return true;
        const name = byteStringToPath(names.at(-1) ?? "");
        const stat = lstatSync(parent.at(name), { throwIfNoEntry: false });
        if (stat) add(`${parent.path === "/" ? "" : parent.path}/${name}`, kind, stat);
        return true;
      },
      enters: () => true,
    };
    await walk(confinement, { env, folder: root, includeIgnored: false, signal }, visitor);
  }
  return seen;
}

function isUnchanged(known: SnapshotEntry, stat: Stats, began: number): boolean {
  return (
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
  kind: ChangedKind,
  stat: Stats,
  room: number,
): SnapshotEntry | undefined {
  const look = {
    kind,
    mode: stat.mode & 0o7777,
    size: stat.size,
    mtimeMs: stat.mtimeMs,
    ctimeMs: stat.ctimeMs,
    ino: stat.ino,
  };
  if (kind === "file" && stat.size > Math.min(MAX_EDIT_BYTES, room)) return { ...look, hash: null };
  try {
    const found = readEntry(confinement, kind, path);
    if (!found || found.path !== path) return undefined;
    if (kind !== "directory") contents.put(found);
    return { ...look, hash: found.hash };
  } catch (cause) {
    // Missing, unreadable or another kind by now: not part of the snapshot.
    if (cause instanceof ToolError || errnoOf(cause) !== undefined) return undefined;
    throw cause;
  }
}
