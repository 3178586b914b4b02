import { type Hash, ToolError, type Uri } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import { hashOf } from "../hashes.ts";
import { applyChange, type FileChange, type HunkReport, type Match } from "../patch/index.ts";
import { type Path, pathToUri } from "../path.ts";
import { conflict } from "./conflict.ts";
import { checkSize, checkWriteAccess, type ExistingFile, readExisting } from "./existing-file.ts";
import type { Change, Wanted } from "./file-step.ts";
import { findFree } from "./new-place.ts";
import { checkWritable } from "./protected-paths.ts";

/** What a patch does to one file, as the caller is told. */
export interface FileReport {
  readonly uri: Uri;
  /** null when the file is gone. */
  readonly hash: Hash | null;
  readonly match: Match;
  readonly hunks: readonly HunkReport[];
  readonly created?: true;
  readonly deleted?: true;
  readonly renamed_from?: Uri;
  readonly copied_from?: Uri;
}

export interface Plan {
  readonly changes: readonly Change[];
  /** Folders to be made, outermost first. */
  readonly folders: readonly Path[];
  readonly reports: readonly FileReport[];
}

/** What the caller believes a file to be, by the path as it was asked for or by the real one. */
export type Bases = (asked: Path, real: Path) => Hash | undefined;

interface Part {
  readonly change: FileChange;
  readonly asked: Path;
  /** The file that it starts from; a create starts from none. */
  readonly source: ExistingFile | undefined;
}

/** Finds out what a patch would do, and changes nothing. Every rule about what may be edited is checked here. */
export function planPatch(
  confinement: Confinement,
  blobs: Blobs,
  patch: readonly FileChange[],
  bases: Bases,
): Plan {
  const parts = patch.map((change): Part => {
    const asked = toPath(confinement, change.path);
    return { change, asked, source: readSource(confinement, change, asked) };
  });
  checkBases(confinement, blobs, parts, bases);
  const states = createStates();
  // First what goes, then what comes: a patch may give one file the name of another that it moves away.
  for (const { change, source } of parts) if (source && !isCopy(change)) states.take(source);
  const reports = parts.map((part) => planPart(confinement, part, states));
  return { ...states.result(), reports };
}

/** A path in a patch starts at the first root, unless it is absolute. */
function toPath(confinement: Confinement, path: Path): Path {
  if (/^file:\/\//i.test(path)) return confinement.toPath(path);
  return confinement.toPath(pathToUri(path.startsWith("/") ? path : `${confinement.roots[0]}/${path}`));
}

function readSource(confinement: Confinement, change: FileChange, asked: Path): ExistingFile | undefined {
  if (change.kind === "create") return undefined;
  const movesAway = change.kind === "delete" || (change.newPath !== undefined && !change.copy);
  if (movesAway) checkNoLink(confinement, asked);
  const file = readExisting(confinement, asked);
  if (isCopy(change)) return file;
  checkWritable(confinement.roots, asked, file.path);
  if (!movesAway) checkWriteAccess(file);
  return file;
}

const isCopy = (change: FileChange): boolean => change.kind === "update" && change.copy === true;

/** Editing through a link edits what it leads to; but what would it mean to delete or rename through one? */
function checkNoLink(confinement: Confinement, path: Path): void {
  using entry = confinement.openEntry(path);
  if (!entry.stat.isSymbolicLink()) return;
  const uri = pathToUri(path);
  const message = `${uri} is a link; a patch deletes or renames files only, fs.rm removes the link`;
  throw new ToolError("NOT_A_FILE", message, { uri, kind: "symlink" });
}

function checkBases(confinement: Confinement, blobs: Blobs, parts: readonly Part[], bases: Bases): void {
  const existing = parts.flatMap(({ source, asked, change }) =>
    source ? [{ file: source, change, expected: bases(asked, source.path) }] : [],
  );
  const uris = existing.filter(({ expected }) => !expected).map(({ file }) => pathToUri(file.path));
  if (uris.length > 0) {
    const more = uris.length > MAX_NAMED ? ` and ${uris.length - MAX_NAMED} more` : "";
    const message = `base_hash is required for ${uris.slice(0, MAX_NAMED).join(", ")}${more}; fs.read and fs.stat give it`;
    throw new ToolError("PRECONDITION_REQUIRED", message, { uris });
  }
  for (const { file, change, expected } of existing) {
    if (expected === undefined || expected === file.hash) continue;
    const alone = parts.length === 1 ? change : undefined;
    throw conflict(blobs, { file, name: nameInPatch(confinement, file.path), expected, change: alone });
  }
}

const MAX_NAMED = 3;

/** What a patch calls a file: its path from the root, or the absolute one in the other roots. */
export function nameInPatch({ roots }: Confinement, path: Path): Path {
  const prefix = roots[0] === "/" ? "/" : `${roots[0]}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

function planPart(confinement: Confinement, { change, source }: Part, states: States): FileReport {
  const { after: bytes, match, hunks } = applyChange(source?.bytes ?? Buffer.alloc(0), change);
  if (change.kind === "delete")
    return { uri: pathToUri(source!.path), hash: null, match, hunks, deleted: true };

  const hash = hashOf(bytes);
  if (change.kind === "update" && change.newPath === undefined) {
    const uri = pathToUri(source!.path);
    checkSize(uri, bytes.length);
    states.put(source!.path, { bytes, hash, mode: modeOf(source!, change.mode) });
    return { uri, hash, match, hunks };
  }

  const name = change.kind === "create" ? change.path : change.newPath!;
  const place = findFree(confinement, toPath(confinement, name), states.isMovedAway);
  const uri = pathToUri(place.path);
  checkSize(uri, bytes.length);
  const wanted = source
    ? { bytes, hash, like: source.stat, mode: modeOf(source, change.mode) }
    : { bytes, hash, executable: isExecutable(change.mode) };
  states.put(place.path, wanted, place.missing);
  if (!source) return { uri, hash, match, hunks, created: true };
  const from = pathToUri(source.path);
  return { uri, hash, match, hunks, ...(isCopy(change) ? { copied_from: from } : { renamed_from: from }) };
}

const isExecutable = (mode = 0): boolean => (mode & 0o111) !== 0;

/** As git does it: a patch says only whether a file is a program; who may read and write it stays. */
function modeOf({ stat }: ExistingFile, wanted: number | undefined): number {
  const mode = stat.mode & 0o7777;
  if (wanted === undefined) return mode;
  return isExecutable(wanted) ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}

/** Each path's state before and after; several parts of a patch may speak of one path. */
interface States {
  /** Notes a file that will be gone, unless something is put in its place. */
  take(file: ExistingFile): void;
  put(path: Path, wanted: Wanted, missing?: readonly Path[]): void;
  isMovedAway(path: Path): boolean;
  result(): { changes: readonly Change[]; folders: readonly Path[] };
}

function createStates(): States {
  const states = new Map<Path, { before: ExistingFile | null; after: Wanted | null }>();
  const inodes = new Set<string>();
  const folders = new Set<Path>();
  return {
    take(file) {
      const inode = `${file.stat.dev}:${file.stat.ino}`;
      if (inodes.has(inode)) throw twice(file.path);
      inodes.add(inode);
      states.set(file.path, { before: file, after: null });
    },
    put(path, wanted, missing = []) {
      const state = states.get(path) ?? { before: null, after: null };
      if (state.after) throw twice(path);
      states.set(path, { ...state, after: wanted });
      for (const folder of missing) folders.add(folder);
    },
    isMovedAway: (path) => states.get(path)?.before !== null && states.has(path),
    result: () => ({
      changes: [...states].map(([path, state]) => ({ path, ...state })).filter(isChange),
      folders: [...folders],
    }),
  };
}

const isChange = ({ before, after }: Change): boolean =>
  before?.hash !== after?.hash ||
  (after?.mode !== undefined && before !== null && after.mode !== (before.stat.mode & 0o7777));

function twice(path: Path): ToolError {
  const uri = pathToUri(path);
  const message = `the patch changes ${uri} twice, perhaps under two names; put all its hunks under one header`;
  return new ToolError("PATCH_FAILED", message, { uri });
}
