import { statSync } from "node:fs";
import { join } from "node:path";
import { type Hash, newHandle, type Ref, ToolError, type Uri } from "@octant/core";
import { type Blobs, toBlob, toRef } from "../blobs/blobs.ts";
import { type Confinement, kindOf, splitPath } from "../confinement.ts";
import { hashOf } from "../hashes.ts";
import { unifiedDiff } from "../patch/index.ts";
import { type Path, pathToUri } from "../path.ts";
import type { StateFolder } from "../state.ts";
import { syncFolder } from "../sync-folder.ts";
import { toToolError } from "../system-error.ts";
import { type Disk, realDisk } from "./disk.ts";
import { checkSize, MAX_EDIT_BYTES, readExisting } from "./existing-file.ts";
import { type Change, kindOfChange } from "./file-step.ts";
import { createJournal } from "./journal.ts";
import { createLock } from "./lock.ts";
import { findFree, findPlace } from "./new-place.ts";
import { checkOtherNames } from "./other-names.ts";
import { type PatchRequest, readRequest, toBases } from "./patch-request.ts";
import { type FileReport, nameInPatch, type Plan, planPatch } from "./plan-patch.ts";
import { planUndo } from "./plan-undo.ts";
import { checkWritable } from "./protected-paths.ts";
import { checkConfirmed, createRemoval, toRemovable } from "./removal.ts";
import { removeEmptyFolders } from "./rollback.ts";
import { createSeal } from "./seal.ts";
import { surveyRemoval } from "./survey.ts";
import { createTransactions } from "./transaction.ts";
import { createTrash } from "./trash.ts";
import { createUndoRecords, type UndoStep } from "./undo.ts";
import { planSteps, runSteps, toWritable } from "./undo-steps.ts";

export interface PatchResult {
  readonly patch_id: string;
  readonly files: readonly FileReport[];
  /** null after a dry run. */
  readonly undo: Ref | null;
  /** What a dry run would do. */
  readonly diff?: string;
}

/** The only way in which files of the workspace change. One edit at a time, among all processes. */
export interface Edits {
  apply(request: PatchRequest, signal?: AbortSignal): Promise<PatchResult>;
  /** Creates a missing file and its parent folders. */
  create(uri: Uri, bytes: Buffer, signal?: AbortSignal): Promise<{ uri: Uri; hash: Hash; undo: Ref }>;
  /** Stores the undo of a change made elsewhere, such as by a command; apply() accepts the ref. */
  recordUndo(steps: readonly UndoStep[]): Ref;
  makeFolder(uri: Uri): Promise<{ uri: Uri; created: boolean }>;
  remove(
    uri: Uri,
    options: { readonly confirm: boolean; readonly recursive: boolean },
    signal?: AbortSignal,
  ): Promise<{ uri: Uri; removed: number; undo: Ref }>;
  /** Rolls back what a crashed process left half done. Cheap when there is nothing. */
  recover(): Promise<void>;
  /** Closes as soon as no edit is under way. */
  close(): Promise<void>;
}

export interface EditsOptions {
  readonly confinement: Confinement;
  readonly blobs: Blobs;
  readonly state: StateFolder;
  warn(message: string): void;
  readonly disk?: Disk;
}

export function createEdits({ confinement, blobs, state, warn, disk = realDisk }: EditsOptions): Edits {
  const folder = state.folder("edits");
  // One for all workspaces: other servers may have some of these files among other roots.
  const lock = createLock(join(state.base, "lock"));
  const sealOf = createSeal(state.secret);
  const journalFile = join(folder, "journal");
  const journal = createJournal({ file: journalFile, roots: confinement.roots, sealOf, warn, disk });
  const transactions = createTransactions(confinement, journal, disk);
  const records = createUndoRecords(sealOf);
  const trash = createTrash(confinement, state.folder("trash"));
  const removal = createRemoval({ confinement, blobs, transactions, trash, records });

  /** Another process may have died since the last time, so every edit starts with looking for its remains. */
  const alone = <T>(work: () => Promise<T> | T, signal?: AbortSignal): Promise<T> =>
    lock.hold(async () => {
      await transactions.recover();
      return work();
    }, signal);

  const commit = async ({ changes, folders }: Omit<Plan, "reports">, signal?: AbortSignal): Promise<Ref> => {
    // For one file, waiting for the disk here would cost more than the edit; a power failure can lose its undo, never
    // the file. A set of files waits for the disk many times anyway, and its undo is worth more.
    const durable = changes.length > 1;
    const old = changes.flatMap(({ before }) => before ?? []);
    const record = toBlob(records.encodeFiles(changes, folders));
    blobs.putAll([...old, record], { durable });
    if (changes.length > 0) await transactions.run(changes, folders, signal);
    return toRef(record.hash);
  };

  const stepsContext = { confinement, blobs, disk, transactions };
  const recordUndo = (steps: readonly UndoStep[]): Ref => {
    const record = toBlob(records.encodeSteps(steps));
    // The content of a folder, which a record may bring back.
    blobs.putAll([record, toBlob(Buffer.alloc(0))], { durable: true });
    return toRef(record.hash);
  };
  const applySteps = async (
    patch_id: string,
    steps: readonly UndoStep[],
    dryRun: boolean,
    signal?: AbortSignal,
  ): Promise<PatchResult> => {
    if (dryRun) {
      const plan = planSteps(stepsContext, steps);
      return { patch_id, files: plan.reports, undo: null, diff: diffOf(confinement, plan.changes) };
    }
    const { reports, inverse } = await runSteps(stepsContext, steps, signal);
    return { patch_id, files: reports, undo: recordUndo(inverse) };
  };

  return {
    recordUndo,
    async apply(request, signal) {
      const asked = readRequest(confinement, blobs, records, request);
      const patch_id = newHandle("patch", Date.now());
      return alone(async () => {
        if (asked.kind === "tree") {
          if (request.dry_run) throw noDryRun();
          const { uri, deleted, undo } = await removal.undo(asked.tree, signal);
          return { patch_id, files: [toTreeReport(uri, deleted)], undo };
        }
        if (asked.kind === "steps")
          return applySteps(patch_id, asked.steps, request.dry_run ?? false, signal);
        const emptied =
          asked.kind === "files" ? asked.folders.map((uri) => toWritable(confinement, uri)) : [];
        const plan =
          asked.kind === "files"
            ? planUndo(confinement, blobs, asked.files)
            : planPatch(confinement, blobs, asked.patch, toBases(confinement, request, asked.patch));
        checkOtherNames(confinement, plan.changes);
        if (request.dry_run)
          return { patch_id, files: plan.reports, undo: null, diff: diffOf(confinement, plan.changes) };
        const undo = await commit(plan, signal);
        try {
          removeEmptyFolders(confinement, disk, emptied);
        } catch {
          // The change has been applied, and a leftover empty folder does no harm.
        }
        return { patch_id, files: plan.reports, undo };
      }, signal);
    },

    create: (uri, bytes, signal) =>
      alone(async () => {
        checkSize(uri, bytes.length);
        const { path, missing } = findFree(confinement, confinement.toPath(uri));
        const hash = hashOf(bytes);
        const change: Change = { path, before: null, after: { kind: "file", bytes, hash } };
        const undo = await commit({ changes: [change], folders: missing }, signal);
        return { uri: pathToUri(path), hash, undo };
      }, signal),

    makeFolder: (uri) =>
      alone(() => {
        const asked = confinement.toPath(uri);
        checkWritable(confinement.roots, asked);
        const place = findPlace(confinement, asked);
        checkWritable(confinement.roots, place.path);
        const made: Path[] = [];
        try {
          using folder = confinement.makeFolder(asked, made);
          for (const path of made) {
            using above = confinement.openFolder(splitPath(path).parent);
            syncFolder(above.at("."), disk);
          }
          return { uri: pathToUri(folder.path), created: made.length > 0 };
        } catch (cause) {
          removeEmptyFolders(confinement, disk, made);
          throw toExists(confinement, toToolError(cause, pathToUri(place.path)), place.path);
        }
      }),

    async remove(uri, { confirm, recursive }, signal) {
      const done = await alone(async () => {
        const path = toRemovable(confinement, uri);
        const found = await surveyRemoval(confinement, path, signal);
        checkConfirmed(found, confirm, recursive);
        const result = { uri: pathToUri(path), removed: found.count };
        if (found.kind === "file" && found.bytes <= MAX_EDIT_BYTES) {
          const before = readExisting(confinement, path);
          return {
            ...result,
            undo: await commit({ changes: [{ path, before, after: null }], folders: [] }, signal),
          };
        }
        const undo = await removal.remove(path, signal);
        trash.expire();
        return { ...result, undo };
      }, signal);
      await trash.empty();
      return done;
    },

    async recover() {
      await trash.empty();
      if (statSync(journalFile, { throwIfNoEntry: false })?.size) await alone(() => {});
    },
    async close() {
      await lock.close();
      journal.close();
    },
  };
}

const diffOf = (confinement: Confinement, changes: readonly Change[]): string =>
  changes
    // git has no word for an empty folder.
    .filter((change) => kindOfChange(change) !== "directory")
    .map(({ path, before, after }) =>
      unifiedDiff({
        path: nameInPatch(confinement, path),
        link: kindOfChange({ path, before, after }) === "symlink",
        before: before?.bytes ?? null,
        after: after?.bytes ?? null,
        oldMode: before?.stat.mode,
        newMode: after?.mode ?? before?.stat.mode,
      }),
    )
    .join("");

const toTreeReport = (uri: Uri, deleted: boolean): FileReport => ({
  uri,
  hash: null,
  match: "exact",
  hunks: [],
  ...(deleted ? { deleted: true } : { created: true }),
});

const noDryRun = () => {
  const message = "undoing the removal of a folder has no dry run; without dry_run it brings the folder back";
  return new ToolError("UNSUPPORTED", message, { what: "dry_run of this undo", how: "leave dry_run out" });
};

/** A file where a folder was asked for. */
function toExists(confinement: Confinement, cause: unknown, path: Path): unknown {
  if (!(cause instanceof ToolError && cause.code === "NOT_A_DIRECTORY")) return cause;
  try {
    using entry = confinement.openEntry(path);
    const uri = pathToUri(path);
    return new ToolError("ALREADY_EXISTS", `${uri} already exists, as a ${kindOf(entry.stat)}`, { uri });
  } catch {
    return cause;
  }
}
