import { chmodSync } from "node:fs";
import { ToolError, type Uri } from "@octant/core";
import { type Blobs, toBlob } from "../blobs/blobs.ts";
import { type Confinement, splitPath } from "../confinement.ts";
import { type Path, pathToUri } from "../path.ts";
import type { Disk } from "./disk.ts";
import { readEntry } from "./existing-entry.ts";
import { readExisting } from "./existing-file.ts";
import { checkOtherNames } from "./other-names.ts";
import type { FileReport, Plan } from "./plan-patch.ts";
import { planUndo } from "./plan-undo.ts";
import { checkWritable } from "./protected-paths.ts";
import { removeEmptyFolders } from "./rollback.ts";
import type { Transactions } from "./transaction.ts";
import type { DirectoryMode, FileEntry, UndoStep } from "./undo.ts";

export interface StepsContext {
  readonly confinement: Confinement;
  readonly blobs: Blobs;
  readonly disk: Disk;
  readonly transactions: Transactions;
}

/**
 * Runs the steps of an undo in order. Each is atomic; after a crash, running the same record again resumes, because
 * files that already have the desired state are skipped.
 */
export async function runSteps(
  context: StepsContext,
  steps: readonly UndoStep[],
  signal?: AbortSignal,
): Promise<{ reports: FileReport[]; inverse: UndoStep[] }> {
  const { confinement, blobs, disk, transactions } = context;
  const reports: FileReport[] = [];
  const inverse: UndoStep[] = [];
  for (const step of steps) {
    const folders = step.folders.map((uri) => toWritable(confinement, uri));
    const plan = planStep(context, step);
    const modes = [...step.modes.map(({ uri }) => uri), ...step.folders].flatMap((uri) =>
      folderMode(confinement, uri),
    );
    blobs.putAll(
      plan.changes.flatMap(({ before }) => before ?? []),
      { durable: true },
    );
    if (plan.changes.length > 0) await transactions.run(plan.changes, plan.folders, signal);
    const emptied = folders.filter((path) => isEmptyFolder(confinement, path));
    removeEmptyFolders(confinement, disk, folders);
    for (const { uri, mode } of step.modes) setFolderMode(confinement, uri, mode);
    reports.push(...plan.reports);
    inverse.unshift({ ...invert(plan, emptied), modes });
  }
  return { reports, inverse };
}

/** Plans the steps without running them. Every step is planned on the state before the first. */
export const planSteps = (context: StepsContext, steps: readonly UndoStep[]): Plan => {
  const plans = steps.map((step) => planStep(context, step));
  return {
    changes: plans.flatMap(({ changes }) => changes),
    folders: plans.flatMap(({ folders }) => folders),
    reports: plans.flatMap(({ reports }) => reports),
  };
};

function planStep({ confinement, blobs }: StepsContext, { files }: UndoStep): Plan {
  const left = files.filter((entry) => !isAsWanted(confinement, entry));
  const plan = planUndo(confinement, blobs, left);
  checkOtherNames(confinement, plan.changes);
  return plan;
}

function isAsWanted(confinement: Confinement, { uri, kind, before }: FileEntry): boolean {
  const path = confinement.toPath(uri);
  try {
    using entry = confinement.openEntry(path);
    if (!before) return false;
    const found = kind === "file" ? readExisting(confinement, path) : readEntry(confinement, kind, path);
    const sameMode = kind === "symlink" || (entry.stat.mode & 0o7777) === before.mode;
    return found?.path === path && found.hash === before.hash && sameMode;
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
    return before === null && (cause.code === "NOT_FOUND" || cause.code === "NOT_A_DIRECTORY");
  }
}

const isEmptyFolder = (confinement: Confinement, path: Path): boolean => {
  try {
    using folder = confinement.openFolder(path);
    return folder.path === path;
  } catch {
    return false;
  }
};

/** The inverse of this step. Removed folders are recreated by the files in them. */
function invert({ changes, folders }: Plan, removedFolders: readonly Path[]): Omit<UndoStep, "modes"> {
  const files = changes.map(
    ({ path, before, after }): FileEntry => ({
      uri: pathToUri(path),
      kind: (before ?? after)?.kind ?? "file",
      before: before && { hash: before.hash, mode: before.stat.mode & 0o7777 },
      after: after && { hash: after.hash },
    }),
  );
  const inside = (folder: Path) =>
    changes.some(({ path, before }) => before && path.startsWith(`${folder}/`)) ||
    removedFolders.some((other) => other.startsWith(`${folder}/`));
  const empty = removedFolders
    .filter((folder) => !inside(folder))
    .map(
      (folder): FileEntry => ({
        uri: pathToUri(folder),
        kind: "directory",
        before: EMPTY_FOLDER,
        after: null,
      }),
    );
  return { files: [...empty, ...files], folders: folders.map(pathToUri) };
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
    using parent = confinement.openFolder(splitPath(path).parent);
    using folder = confinement.openFolder(path);
    if (folder.path === path && (folder.stat.mode & 0o7777) !== mode) chmodSync(folder.at("."), mode);
    void parent;
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
  }
}

export function toWritable(confinement: Confinement, uri: Uri): Path {
  const path = confinement.toPath(uri);
  checkWritable(confinement.roots, path);
  return path;
}
