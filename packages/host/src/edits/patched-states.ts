import { patchFailed } from "../patch/change.ts";
import { isWithin, type Path, pathToUri } from "../path.ts";
import { type Change, kindOfChange, type Wanted } from "./file-step.ts";
import type { ExistingFile } from "./read-before.ts";

interface State {
  readonly before: ExistingFile | null;
  readonly after: Wanted | null;
}

export type States = ReturnType<typeof createStates>;

/** Each path's state before and after; several parts of a patch may speak of one path. */
export function createStates() {
  const states = new Map<Path, State>();
  const inodes = new Set<string>();
  const folders = new Set<Path>();
  return {
    /** Marks a file as removed, unless something replaces it. */
    take(file: ExistingFile): void {
      const inode = `${file.stat.dev}:${file.stat.ino}`;
      if (inodes.has(inode)) throw twice(file.path);
      inodes.add(inode);
      states.set(file.path, { before: file, after: null });
    },
    put(path: Path, wanted: Wanted, missing: readonly Path[]): void {
      const state = states.get(path) ?? { before: null, after: null };
      if (state.after) throw twice(path);
      states.set(path, { ...state, after: wanted });
      for (const folder of missing) folders.add(folder);
    },
    isMovedAway: (path: Path): boolean => states.get(path)?.before !== null && states.has(path),
    /** `folders` are to be created, outermost first. */
    result() {
      const changes = [...states].flatMap(([path, state]) => toChanges(path, state));
      checkNothingBelow(changes, [...folders]);
      return { changes, folders: [...folders] };
    },
  };
}

function toChanges(path: Path, { before, after }: State): Change[] {
  if (before && after && before.kind !== after.kind)
    return [
      { path, before, after: null },
      { path, before: null, after },
    ];
  const isChange =
    before?.hash !== after?.hash ||
    (after?.mode !== undefined && before !== null && after.mode !== (before.stat.mode & 0o7777));
  return isChange ? [{ path, before, after }] : [];
}

/** Paths must not depend on the order of changes to folders and links. */
function checkNothingBelow(changes: readonly Change[], folders: readonly Path[]): void {
  const others = changes.filter((change) => kindOfChange(change) !== "file");
  const places = [...changes.map(({ path }) => path), ...folders.map((folder) => `${folder}/`)];
  for (const { path } of others) {
    if (!places.some((place) => place !== path && isWithin(path, place))) continue;
    const uri = pathToUri(path);
    const message = `the patch changes ${uri}, a link or submodule, and something below it; make it two patches`;
    throw patchFailed(message, { uri });
  }
}

function twice(path: Path) {
  const uri = pathToUri(path);
  const message = `the patch changes ${uri} twice, perhaps under two names; put all its hunks under one header`;
  return patchFailed(message, { uri });
}
