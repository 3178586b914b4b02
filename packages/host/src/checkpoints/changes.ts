import type { Hash } from "@octant/core";
import type { FileEntry, UndoStep } from "../edits/undo-records.ts";
import type { ChangedRef } from "../git/refs.ts";
import { isWithin, type Path, pathToUri } from "../path.ts";
import type { Omission, Snapshot, SnapshotEntry } from "./snapshot.ts";

/** One path that differs between two snapshots; undefined: it does not exist. */
export interface SnapshotChange {
  readonly path: Path;
  readonly from: SnapshotEntry | undefined;
  readonly to: SnapshotEntry | undefined;
}

/** An entry that an undo leaves alone, because one of the states is not stored. */
export interface Uncovered {
  readonly path: Path;
  readonly why: Omission;
  /** The refs of a repository: those in the state to restore, and the current ones. */
  readonly refs?: readonly ChangedRef[];
}

/** The changes from one snapshot to the other, in path order. */
export function changesBetween(
  from: Snapshot,
  to: Snapshot,
  isEqual: typeof isSame = isSame,
): SnapshotChange[] {
  const changes: SnapshotChange[] = [];
  for (const [path, entry] of from) {
    const now = to.get(path);
    if (!isEqual(entry, now)) changes.push({ path, from: entry, to: now });
  }
  for (const [path, entry] of to) if (!from.has(path)) changes.push({ path, from: undefined, to: entry });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Whether two states of a path are equal; undefined: it does not exist. */
export function isSame(a: SnapshotEntry | undefined, b: SnapshotEntry | undefined): boolean {
  if (!a || !b) return a === b;
  if (a.kind !== b.kind || a.mode !== b.mode) return false;
  // One of the snapshots may have stored a file that the other one left out.
  if (a.hash === null || b.hash === null) return a.mtimeMs === b.mtimeMs && a.size === b.size;
  return a.hash === b.hash;
}

/** Whether they are also covered in the same way. */
export const isIdentical: typeof isSame = (a, b) => isSame(a, b) && a?.omitted === b?.omitted;

/**
 * Separates the changes that can be undone from those of entries that one of the snapshots omitted, or that lie below
 * such an entry: that they are missing from a snapshot does not mean that they did not exist.
 */
export function splitCovered(
  changes: readonly SnapshotChange[],
  ...snapshots: readonly Snapshot[]
): { readonly covered: readonly SnapshotChange[]; readonly uncovered: readonly Uncovered[] } {
  const uncovered = new Map<Path, Uncovered>();
  const covered = changes.flatMap((change) => {
    const { path, from, to } = change;
    // No record can remove a special entry: an undo that needs its place stops, and says so.
    if (to?.omitted === "special" && from && !from.omitted) return [{ ...change, to: undefined }];
    const found = snapshots.map((snapshot) => findOmitted(snapshot, path)).find((one) => one !== undefined);
    if (!found) return [change];
    uncovered.set(found.path, found);
    return [];
  });
  return { covered, uncovered: [...uncovered.values()] };
}

/** The entry itself, or the one above it, that the snapshot omits. */
function findOmitted(snapshot: Snapshot, path: Path): Uncovered | undefined {
  for (let at = path; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
    const why = snapshot.get(at)?.omitted;
    if (why) return { path: at, why };
  }
  return undefined;
}

/**
 * The steps from the state `to` of every change back to its state `from`. An obstacle, such as a folder in place of a
 * file, is removed in a separate first step.
 */
export function undoSteps(changes: readonly SnapshotChange[]): UndoStep[] {
  // Folders created by the change, outermost first: removed when empty.
  const folders = changes
    .filter(({ from, to }) => to?.kind === "directory" && from?.kind !== "directory")
    .map(({ path }) => path);
  const blockingFolders = changes.filter(
    ({ from, to }) => to?.kind === "directory" && from && from.kind !== "directory",
  );
  const below = (path: Path) => blockingFolders.some((folder) => isWithin(folder.path, path));
  const second = secondNames(changes);
  const first = changes.filter(
    (change) =>
      change.to &&
      change.to.kind !== "directory" &&
      (below(change.path) || second.has(change) || isBlocking(change, changes)),
  );
  const gone = new Set<SnapshotChange>([...first, ...blockingFolders]);
  const rest = changes.filter((change) => !gone.has(change) || change.from !== undefined);
  const step: UndoStep = {
    files: toEntries(rest, gone),
    folders: folders.filter((path) => !below(path)).map(pathToUri),
    // Set when everything else is in place.
    modes: changes.flatMap(({ path, from }) =>
      from?.kind === "directory" ? [{ uri: pathToUri(path), mode: from.mode }] : [],
    ),
  };
  if (gone.size === 0) return [step];
  const removed = first.map(({ path, to }) => toEntry(path, undefined, to));
  return [{ files: removed, folders: folders.filter(below).map(pathToUri), modes: [] }, step];
}

/** Additional names of a hard-linked file, which must not be written twice under different names. */
function secondNames(changes: readonly SnapshotChange[]): ReadonlySet<SnapshotChange> {
  const seen = new Set<number>();
  const second = new Set<SnapshotChange>();
  for (const change of changes) {
    if (change.to?.kind !== "file") continue;
    if (seen.has(change.to.ino)) second.add(change);
    seen.add(change.to.ino);
  }
  return second;
}

/**
 * A file or link that must be removed before the original can be restored: as another kind, or as a folder with
 * content.
 */
const isBlocking = ({ path, from }: SnapshotChange, changes: readonly SnapshotChange[]): boolean =>
  from?.kind === "directory" ||
  changes.some((other) => other.from && other.path !== path && isWithin(path, other.path));

function toEntries(
  changes: readonly SnapshotChange[],
  removedFirst: ReadonlySet<SnapshotChange>,
): FileEntry[] {
  const entries: FileEntry[] = [];
  for (const change of changes) {
    const { path, from, to } = change;
    const now = removedFirst.has(change) ? undefined : to;
    if (from?.kind === "directory" && !now) {
      // A folder is restored with its content; only an empty one must be created explicitly.
      if (!changes.some((other) => other.from && other.path !== path && isWithin(path, other.path)))
        entries.push(toEntry(path, from, undefined));
      continue;
    }
    if (now?.kind === "directory") continue;
    if (from && now && from.kind !== now.kind) {
      entries.push(toEntry(path, from, undefined), toEntry(path, undefined, now));
      continue;
    }
    if (from || now) entries.push(toEntry(path, from, now));
  }
  return entries;
}

function toEntry(path: Path, before: SnapshotEntry | undefined, after: SnapshotEntry | undefined): FileEntry {
  const kind = (before ?? after)?.kind ?? "file";
  return {
    uri: pathToUri(path),
    kind,
    before: before ? { hash: hashOf(path, before), mode: before.mode } : null,
    after: after ? { hash: hashOf(path, after) } : null,
  };
}

function hashOf(path: Path, { hash }: SnapshotEntry): Hash {
  if (hash === null) throw new TypeError(`${pathToUri(path)} is not stored`);
  return hash;
}
