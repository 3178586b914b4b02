import { chmodSync } from "node:fs";
import { attempt, ToolError, type Uri } from "@octant/core";
import { type Blobs, toBlob } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import { errnoOf } from "../errno.ts";
import { type Path, pathToUri } from "../path.ts";
import { entryError, hasCode } from "../system-error.ts";
import { conflict } from "./conflict.ts";
import type { Disk } from "./disk.ts";
import { type Change, kindOfChange } from "./file-step.ts";
import { findFree } from "./new-place.ts";
import { checkPermissions } from "./ownership.ts";
import { type FileReport, nameInPatch, type Plan } from "./plan-patch.ts";
import { checkOtherNames, checkWritable } from "./protected-paths.ts";
import { type ExistingFile, kindAt, namesIn, readEntry } from "./read-before.ts";
import { removeIfEmpty } from "./rollback.ts";
import { isSetOf, type Transactions } from "./transaction.ts";
import {
  type DirectoryMode,
  type FileEntry,
  toFileEntries,
  type Undo,
  type UndoStep,
} from "./undo-records.ts";

export interface UndoContext {
  readonly confinement: Confinement;
  readonly blobs: Blobs;
  readonly disk: Disk;
  readonly transactions: Transactions;
}

type Steps = Extract<Undo, { kind: "steps" }>;

/**
 * Runs the steps of an undo in order. Each is atomic; after a crash, running the same record again resumes if the
 * record says so.
 */
export async function runUndo(
  context: UndoContext,
  { steps, resumes }: Steps,
  signal?: AbortSignal,
): Promise<{ reports: FileReport[]; inverse: UndoStep[] }> {
  const { confinement, blobs, disk, transactions } = context;
  const reports: FileReport[] = [];
  const inverse: UndoStep[] = [];
  for (const step of steps) {
    const folders = step.folders.map((uri) => toWritable(confinement, uri));
    const plan = planStep(context, step, resumes);
    const modes = [...step.modes.map(({ uri }) => uri), ...step.folders].flatMap((uri) =>
      folderMode(confinement, uri),
    );
    const old = plan.changes.flatMap(({ before }) => before ?? []);
    blobs.putAll(old, { durable: resumes || isSetOf(plan.changes) });
    if (plan.changes.length > 0) await transactions.run(plan.changes, plan.folders, signal);
    // One that cannot be removed stays: it does no harm.
    const isRemoved = (path: Path) => attempt(() => removeIfEmpty(confinement, disk, path));
    const removed = folders.toReversed().filter(isRemoved);
    for (const { uri, mode } of step.modes) setFolderMode(confinement, uri, mode);
    reports.push(...plan.reports);
    inverse.unshift({ ...invert(plan, removed), modes });
  }
  return { reports, inverse };
}

/** Plans the steps without running them. What a step removes is free for the next one. */
export function planUndo(context: UndoContext, { steps, resumes }: Steps): Plan {
  const freed = new Set<Path>();
  const plans = steps.map((step) => {
    const plan = planStep(context, step, resumes, freed);
    for (const { path, after } of plan.changes) if (!after) freed.add(path);
    for (const uri of step.folders) freed.add(context.confinement.toPath(uri));
    return plan;
  });
  return {
    changes: joinChanges(plans.flatMap(({ changes }) => changes)),
    folders: plans.flatMap(({ folders }) => folders),
    reports: plans.flatMap(({ reports }) => reports),
  };
}

/** A file that one step removes and a later one creates is changed. */
function joinChanges(changes: readonly Change[]): Change[] {
  const joined = new Map<string, Change>();
  for (const change of changes) {
    const key = `${kindOfChange(change)} ${change.path}`;
    const before = joined.get(key)?.before ?? change.before;
    joined.set(key, { ...change, before });
  }
  return [...joined.values()];
}

/** Each entry contains the expected state; any other state is a conflict. */
function planStep(
  { confinement, blobs }: UndoContext,
  { files }: UndoStep,
  resumes: boolean,
  freed: ReadonlySet<Path> = new Set(),
): Plan {
  const entries = resumes ? files.filter((entry) => !isAsWanted(confinement, entry)) : files;
  const changes: Change[] = [];
  const folders: Path[] = [];
  const reports: FileReport[] = [];
  const isFreed = (path: Path) =>
    freed.has(path) || changes.some((change) => change.path === path && !change.after);
  // In reverse order: an entry that changed kind was removed before it was created.
  for (const { uri, kind, before: wanted, after: expected } of entries.toReversed()) {
    const asked = confinement.toPath(uri);
    const after = wanted && { kind, bytes: blobs.get(wanted.hash), ...wanted };
    const report = {
      hash: kind === "directory" ? null : (wanted?.hash ?? null),
      match: "exact" as const,
      hunks: [],
      ...(kind !== "file" && { kind: kind === "symlink" ? kind : ("submodule" as const) }),
    };
    if (!expected) {
      const { path, missing } = findRestored(confinement, asked, isFreed);
      folders.push(...missing.filter((folder) => !folders.includes(folder)));
      changes.push({ path, before: null, after });
      reports.push({ uri: pathToUri(path), ...report, created: true });
      continue;
    }
    const file = readExpected(confinement, kind, asked);
    checkWritable(confinement.roots, file.path);
    if (file.hash !== expected.hash) {
      if (kind !== "file") throw changed(asked, expected.hash, file.hash);
      throw conflict(blobs, { file, name: nameInPatch(confinement, file.path), expected: expected.hash });
    }
    changes.push({ path: file.path, before: file, after });
    reports.push({ uri, ...report, ...(wanted ? {} : { deleted: true }) });
  }
  checkOtherNames(confinement, changes);
  checkPermissions(changes);
  return { changes, folders, reports };
}

/** Where an entry is restored. The error names the entry in its place, which may be of a kind that no record has. */
function findRestored(confinement: Confinement, asked: Path, isFreed: (path: Path) => boolean) {
  try {
    return findFree(confinement, asked, isFreed);
  } catch (cause) {
    if (!hasCode(cause, "ALREADY_EXISTS")) throw cause;
    const what = `cannot be restored: a ${kindAt(confinement, asked)} is in its place. Remove it (fs.rm) or move it away, then undo again`;
    throw entryError("ALREADY_EXISTS", asked, what);
  }
}

/** The file, the link, or the folder that is still empty. */
function readExpected(confinement: Confinement, kind: FileEntry["kind"], asked: Path): ExistingFile {
  const entry = readEntry(confinement, kind, asked);
  if (!entry) throw changed(asked, kind, "something else");
  if (kind === "directory" && namesIn(confinement, entry.path).length > 0)
    throw changed(asked, "an empty folder", "a folder that is not empty");
  // The record has real paths. If a path is a link now, it is no longer the file that was edited.
  if (entry.path !== asked)
    throw entryError("NOT_A_FILE", asked, "has become a link since; nothing was changed", {
      kind: "symlink",
    });
  return entry;
}

/** Where a link leads is not shown, since that may be outside the workspace. */
const changed = (path: Path, expected: string, actual: string) =>
  entryError("CONFLICT", path, "has changed since; nothing was undone", { expected, actual });

function isAsWanted(confinement: Confinement, { uri, kind, before }: FileEntry): boolean {
  const path = confinement.toPath(uri);
  try {
    using entry = confinement.openEntry(path);
    if (!before) return false;
    const found = readEntry(confinement, kind, path);
    const sameMode = kind === "symlink" || (entry.stat.mode & 0o7777) === before.mode;
    return found?.path === path && found.hash === before.hash && sameMode;
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
    return before === null && hasCode(cause, "NOT_FOUND", "NOT_A_DIRECTORY");
  }
}

/** The inverse of a step. Removed folders are recreated by the files in them. */
function invert({ changes, folders }: Plan, removed: readonly Path[]): Omit<UndoStep, "modes"> {
  const inside = (folder: Path) =>
    changes.some(({ path, before }) => before && path.startsWith(`${folder}/`)) ||
    removed.some((other) => other.startsWith(`${folder}/`));
  const empty = removed
    .filter((folder) => !inside(folder))
    .map(
      (folder): FileEntry => ({
        uri: pathToUri(folder),
        kind: "directory",
        before: EMPTY_FOLDER,
        after: null,
      }),
    );
  return { files: [...empty, ...toFileEntries(changes)], folders: folders.map(pathToUri) };
}

const EMPTY_FOLDER = { hash: toBlob(Buffer.alloc(0)).hash, mode: 0o755 };

/** Nothing for a folder that does not exist. */
function folderMode(confinement: Confinement, uri: Uri): DirectoryMode[] {
  try {
    using folder = confinement.openFolder(toWritable(confinement, uri));
    return [{ uri, mode: folder.stat.mode & 0o7777 }];
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
    return [];
  }
}

/** A folder that no longer exists, or is not ours, is skipped. */
function setFolderMode(confinement: Confinement, uri: Uri, mode: number): void {
  const path = toWritable(confinement, uri);
  try {
    using folder = confinement.openFolder(path);
    if (folder.path === path && (folder.stat.mode & 0o7777) !== mode) chmodSync(folder.at("."), mode);
  } catch (cause) {
    if (!(cause instanceof ToolError || errnoOf(cause) === "EPERM")) throw cause;
  }
}

function toWritable(confinement: Confinement, uri: Uri): Path {
  const path = confinement.toPath(uri);
  checkWritable(confinement.roots, path);
  return path;
}
