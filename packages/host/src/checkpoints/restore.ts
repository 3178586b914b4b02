import { isUtf8 } from "node:buffer";
import { diff3Merge } from "node-diff3";
import { hashOf } from "../hashes.ts";
import type { Path } from "../path.ts";
import { changesBetween, isSame, type SnapshotChange, splitStored } from "./changes.ts";
import type { Contents } from "./contents.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** The changes from the current state to one before (or after) a turn, preserving later changes. */
export interface Restoration {
  /** `from` is the state to restore, `to` is the current one. */
  readonly changes: readonly SnapshotChange[];
  /** Files with later changes that merge cleanly. */
  readonly merged: readonly Path[];
  /** Files with later changes that conflict; left alone unless the person says otherwise. */
  readonly conflicts: readonly SnapshotChange[];
  /** Changed files that are too large for checkpoints to store; left alone. */
  readonly tooLarge: readonly Path[];
}

interface States {
  readonly goal: Snapshot;
  /** The state after the turn; any difference from it is a later change. */
  readonly base: Snapshot;
  readonly now: Snapshot;
}

export function planRestoration(contents: Contents, { goal, base, now }: States): Restoration {
  const changes: SnapshotChange[] = [];
  const merged: Path[] = [];
  const conflicts: SnapshotChange[] = [];
  const { stored, tooLarge } = splitStored(changesBetween(goal, base));
  const grown: Path[] = [];
  for (const { path, from, to } of stored) {
    const current = now.get(path);
    if (isSame(current, from)) continue;
    if (current?.hash === null) {
      grown.push(path);
      continue;
    }
    if (isSame(current, to)) {
      changes.push({ path, from, to: current });
      continue;
    }
    const both = mergeEntries(contents, { goal: from, base: to, now: current });
    if (!both) {
      conflicts.push({ path, from, to: current });
      continue;
    }
    merged.push(path);
    if (!isSame(both, current)) changes.push({ path, from: both, to: current });
  }
  return { changes, merged, conflicts, tooLarge: [...tooLarge, ...grown] };
}

/**
 * Reverts an interrupted turn. Everything since counts as its work, but changes after its last checkpoint may be the
 * person's, so they are conflicts.
 */
export function planCutRestoration({ goal, base: last, now }: States): Restoration {
  const changes: SnapshotChange[] = [];
  const conflicts: SnapshotChange[] = [];
  const { stored, tooLarge } = splitStored(changesBetween(goal, now));
  for (const change of stored) (isSame(change.to, last.get(change.path)) ? changes : conflicts).push(change);
  return { changes, merged: [], conflicts, tooLarge };
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
