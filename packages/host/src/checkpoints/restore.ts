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
  /** `from` is the state to restore, `to` is the current one. */
  readonly changes: readonly SnapshotChange[];
  /** Files with changes of others that merge cleanly. */
  readonly merged: readonly Path[];
  /** Files with changes of others that conflict; left alone unless the person says otherwise. */
  readonly conflicts: readonly SnapshotChange[];
  /** Entries that are not stored; left alone. */
  readonly uncovered: readonly Uncovered[];
  /** What others changed while the turn ran, and it did not; left alone. */
  readonly meanwhile: readonly Path[];
}

/** The states around a part of a turn's work: the one to restore, and the one that it left. */
export interface Span {
  readonly goal: Snapshot;
  readonly base: Snapshot;
  /** Whether others may have made its changes too, so that each of them is a conflict. */
  readonly uncertain?: boolean;
}

/** Takes back one span after the other. Any difference from the state that a span left is a change of others. */
export function planRestoration(contents: Contents, spans: readonly Span[], now: Snapshot): Restoration {
  const state = new Map<Path, SnapshotEntry | undefined>();
  const merged = new Set<Path>();
  const conflicts = new Set<Path>();
  const uncovered = new Map<Path, Uncovered>();
  for (const { goal, base, uncertain } of spans) {
    const found = splitCovered(changesBetween(goal, base), goal, base, now);
    for (const one of found.uncovered) uncovered.set(one.path, one);
    for (const { path, from, to } of found.covered) {
      const current = state.has(path) ? state.get(path) : withoutSpecial(now.get(path));
      if (isSame(current, from)) continue;
      const isOwn = isSame(current, to);
      const wanted = isOwn ? from : mergeEntries(contents, { goal: from, base: to, now: current });
      if (uncertain || (!isOwn && !wanted)) conflicts.add(path);
      else if (!isOwn) merged.add(path);
      state.set(path, wanted);
    }
  }
  const wanted = [...state].filter(([path, from]) => conflicts.has(path) || !isSame(from, now.get(path)));
  for (const path of stuck(wanted, conflicts, now)) conflicts.add(path);
  const isLeft = (path: Path) =>
    conflicts.has(path) || [...conflicts].some((one) => !isFolder(now.get(one)) && isWithin(one, path));
  const goal = spans.at(-1)?.goal ?? now;
  const toChanges = (entries: readonly [Path, SnapshotEntry | undefined][]) =>
    entries
      .map(([path, from]) => ({ path, from, to: withoutSpecial(now.get(path)) }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    changes: toChanges(wanted.filter(([path]) => !isLeft(path))),
    merged: [...merged].filter((path) => !isLeft(path)),
    conflicts: toChanges(wanted.filter(([path]) => isLeft(path)).map(([path]) => [path, goal.get(path)])),
    uncovered: [...uncovered.values()].flatMap((one) => withRefs(contents, one, goal, now)),
    meanwhile: changedBetween(spans).filter((path) => !state.has(path)),
  };
}

const isFolder = (entry: SnapshotEntry | undefined): boolean => entry?.kind === "directory";

const withoutSpecial = (entry: SnapshotEntry | undefined): SnapshotEntry | undefined =>
  entry?.omitted === "special" ? undefined : entry;

/** Folders that must give way to a file and cannot, because something else is in them, with all that is below. */
function stuck(
  wanted: readonly [Path, SnapshotEntry | undefined][],
  conflicts: ReadonlySet<Path>,
  now: Snapshot,
): Path[] {
  const removed = new Set(
    wanted.filter(([path, from]) => !from && !conflicts.has(path)).map(([path]) => path),
  );
  return wanted
    .filter(([folder, from]) => from && !isFolder(from) && isFolder(now.get(folder)))
    .map(([folder]) => [...now.keys()].filter((path) => isWithin(folder, path)))
    .filter(([folder, ...inside]) => folder !== undefined && !inside.every((path) => removed.has(path)))
    .flat();
}

/** Adds what happened to the refs of a repository; nothing when they are as they were. */
function withRefs(contents: Contents, one: Uncovered, goal: Snapshot, now: Snapshot): Uncovered[] {
  if (one.why !== "repository") return [one];
  const textAt = (snapshot: Snapshot) => {
    const hash = snapshot.get(one.path)?.hash;
    return hash ? contents.get(hash).toString() : "";
  };
  const refs = changedRefs(textAt(goal), textAt(now));
  return refs.length === 0 ? [] : [{ ...one, refs }];
}

/** What others changed between the spans. */
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
