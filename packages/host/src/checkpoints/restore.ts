import { isUtf8 } from "node:buffer";
import { diff3Merge } from "node-diff3";
import { changedRefs } from "../git/refs.ts";
import { hashOf } from "../hashes.ts";
import { isWithin, type Path } from "../path.ts";
import { changesBetween, isSame, type SnapshotChange, splitCovered, type Uncovered } from "./changes.ts";
import type { Contents } from "./contents.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** The changes from the current state to one before (or after) a turn, preserving the changes of others. */
export interface Restoration {
  /** `from` is the state to restore, `to` is the current one. Of a conflicting file, it is the version of others. */
  readonly changes: readonly SnapshotChange[];
  /** Files with changes of others that merge cleanly. */
  readonly merged: readonly Path[];
  /** Files with changes of others that conflict, which are lost only if the person says so. */
  readonly conflicts: readonly SnapshotChange[];
  /** The conflicting changes that somebody other than the turn may have made. */
  readonly doubtful: readonly Path[];
  /** Entries that are not stored; left alone. */
  readonly uncovered: readonly Uncovered[];
  /** Entries that others changed while the turn ran, and the turn did not; left alone. */
  readonly meanwhile: readonly Path[];
}

/** The states around a part of a turn's work: the one to restore, and the one that it left. */
export interface Span {
  readonly goal: Snapshot;
  readonly base: Snapshot;
  /** Entries that checkpoints in between omit. */
  readonly omitted: readonly Snapshot[];
  /** Whether others may have made its change of this path, so that it is a conflict. */
  isUncertain?(path: Path): boolean;
}

/** Takes back one span after the other. Any difference from the state that a span left is a change of others. */
export function planRestoration(contents: Contents, spans: readonly Span[], now: Snapshot): Restoration {
  const state = new Map<Path, SnapshotEntry | undefined>();
  const merged = new Set<Path>();
  const conflicts = new Set<Path>();
  const doubtful = new Set<Path>();
  const uncovered = new Map<Path, Uncovered>();
  /** Entries that cannot be restored, because their place is taken. */
  const displaced: SnapshotEntry[] = [];
  // An entry that one of them omits is unknown for the whole turn.
  const all = [...spans.flatMap(({ goal, base, omitted }) => [goal, base, ...omitted]), now];
  for (const { goal, base, isUncertain } of spans) {
    const found = splitCovered(changesBetween(goal, base), ...all);
    for (const one of found.uncovered) uncovered.set(one.path, one);
    for (const { path, from, to } of found.covered) {
      if (conflicts.has(path)) continue;
      const current = state.has(path) ? state.get(path) : withoutSpecial(now.get(path));
      if (isSame(current, from)) continue;
      const isOwn = isSame(current, to);
      const wanted = isOwn ? from : mergeEntries(contents, { goal: from, base: to, now: current });
      const isDoubtful = isUncertain?.(path) === true;
      if (isDoubtful) doubtful.add(path);
      if (isDoubtful || (!isOwn && !wanted)) {
        // The version of others stays, or is restored if a later span has removed it.
        conflicts.add(path);
        if (from) displaced.push(from);
        continue;
      }
      if (!isOwn) merged.add(path);
      state.set(path, wanted);
    }
  }
  const goal = spans.at(-1)?.goal ?? now;
  const toChange = (path: Path, from: SnapshotEntry | undefined): SnapshotChange => ({
    path,
    from,
    to: withoutSpecial(now.get(path)),
  });
  const wanted = [...state].filter(([path, from]) => !isSame(from, now.get(path)));
  const left = leftAlone(wanted, conflicts, displaced, now);
  return {
    changes: wanted
      .filter(([path]) => !left.has(path))
      .map(([path, from]) => toChange(path, from))
      .sort(byPath),
    merged: [...merged].filter((path) => !left.has(path) && !conflicts.has(path)),
    conflicts: [...conflicts.union(left)].map((path) => toChange(path, goal.get(path))).sort(byPath),
    doubtful: [...doubtful].sort(),
    uncovered: [...uncovered.values()].flatMap((one) => withRefs(contents, one, goal, now)),
    meanwhile: changedBetween(spans).filter((path) => !state.has(path) && !conflicts.has(path)),
  };
}

const byPath = (a: SnapshotChange, b: SnapshotChange): number => (a.path < b.path ? -1 : 1);

const isFolder = (entry: SnapshotEntry | undefined): boolean => entry?.kind === "directory";

const withoutSpecial = (entry: SnapshotEntry | undefined): SnapshotEntry | undefined =>
  entry?.omitted === "special" ? undefined : entry;

type Wanted = readonly (readonly [Path, SnapshotEntry | undefined])[];

/** Entries that are blocked by conflicts; and files that the turn moved, while their old place is taken. */
function leftAlone(
  wanted: Wanted,
  conflicts: ReadonlySet<Path>,
  displaced: readonly SnapshotEntry[],
  now: Snapshot,
): Set<Path> {
  const blocked = findBlocked(wanted, conflicts, now);
  const states = [
    ...displaced,
    ...wanted.flatMap(([path, from]) => (from && blocked.has(path) ? [from] : [])),
  ];
  const contents = new Set(states.filter((state) => !isFolder(state)).map(({ hash }) => hash));
  const isMoved = (entry: SnapshotEntry | undefined) => entry && !isFolder(entry) && contents.has(entry.hash);
  const moved = new Set(wanted.flatMap(([path, from]) => (!from && isMoved(now.get(path)) ? [path] : [])));
  return findBlocked(wanted, conflicts.union(moved), now).union(moved);
}

/** Entries that cannot be restored because something of others is in their place, or in the folder that is there. */
function findBlocked(wanted: Wanted, conflicts: ReadonlySet<Path>, now: Snapshot): Set<Path> {
  const removed = new Set(wanted.flatMap(([path, from]) => (from || conflicts.has(path) ? [] : [path])));
  const stuck = wanted
    .filter(([path, from]) => from && !isFolder(from) && isFolder(now.get(path)))
    .flatMap(([folder]) => {
      const inside = [...now.keys()].filter((path) => path !== folder && isWithin(folder, path));
      return inside.every((path) => removed.has(path)) ? [] : [folder];
    });
  const blocking = [...conflicts].filter((path) => now.has(path) && !isFolder(now.get(path)));
  const isLeft = (path: Path) =>
    stuck.some((folder) => isWithin(folder, path)) ||
    blocking.some((one) => one !== path && isWithin(one, path));
  return new Set(wanted.map(([path]) => path).filter(isLeft));
}

/** Adds the changed refs of a repository; nothing when they are unchanged. */
function withRefs(contents: Contents, one: Uncovered, goal: Snapshot, now: Snapshot): Uncovered[] {
  if (one.why !== "repository") return [one];
  const textAt = (snapshot: Snapshot) => {
    const hash = snapshot.get(one.path)?.hash;
    return hash ? contents.get(hash).toString() : "";
  };
  const refs = changedRefs(textAt(goal), textAt(now));
  return refs.length === 0 ? [] : [{ ...one, refs }];
}

/** The entries that others changed between the spans. */
function changedBetween(spans: readonly Span[]): Path[] {
  const gaps = spans.slice(1).flatMap(({ base }, at) => {
    const goal = spans[at]?.goal ?? base;
    return splitCovered(changesBetween(goal, base), goal, base).covered;
  });
  return [...new Set(gaps.filter(({ to }) => !isFolder(to)).map(({ path }) => path))];
}

interface Entries {
  readonly goal: SnapshotEntry | undefined;
  readonly base: SnapshotEntry | undefined;
  readonly now: SnapshotEntry | undefined;
}

/** undefined when one of them is not a stored file, or when both changes overlap. */
function mergeEntries(contents: Contents, { goal, base, now }: Entries): SnapshotEntry | undefined {
  if (goal?.kind !== "file" || base?.kind !== "file" || now?.kind !== "file") return undefined;
  if (goal.hash === null || base.hash === null || now.hash === null) return undefined;
  const mode = now.mode === base.mode ? goal.mode : now.mode;
  const bytes = mergeTexts({
    ours: contents.get(now.hash),
    base: contents.get(base.hash),
    theirs: contents.get(goal.hash),
  });
  if (!bytes) return undefined;
  const hash = hashOf(bytes);
  contents.put({ hash, bytes });
  contents.flush();
  return { ...now, mode, hash, size: bytes.length };
}

const MAX_MERGED_BYTES = 2 * 1024 * 1024;

interface Texts {
  readonly ours: Buffer;
  readonly base: Buffer;
  readonly theirs: Buffer;
}

/** Merges both changes of a text, line by line; undefined when they overlap, or when one is not text. */
function mergeTexts({ ours, base, theirs }: Texts): Buffer | undefined {
  const all = [ours, base, theirs];
  if (!all.every((bytes) => bytes.length <= MAX_MERGED_BYTES && isText(bytes))) return undefined;
  const [a = [], o = [], b = []] = all.map(toLines);
  const regions = diff3Merge(a, o, b, { excludeFalseConflicts: true });
  if (regions.some(({ conflict }) => conflict)) return undefined;
  return Buffer.from(regions.flatMap(({ ok }) => ok ?? []).join(""));
}

const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

/** With their line ends, so that nothing is lost. */
const toLines = (bytes: Buffer): string[] => bytes.toString().match(/[^\n]*\n|[^\n]+$/g) ?? [];
