import { statSync } from "node:fs";
import { join } from "node:path";
import { type Hash, newHandle, type Ref, ToolError, type Uri } from "@octant/core";
import { type Blobs, toBlob, toRef } from "../blobs/blobs.ts";
import { type Confinement, splitPath } from "../confinement.ts";
import { createPacer } from "../files/pacer.ts";
import { hashOf } from "../hashes.ts";
import type { FileChange } from "../patch/change.ts";
import { unifiedDiff } from "../patch/unified-diff.ts";
import { type Path, pathToUri } from "../path.ts";
import type { StateFolder } from "../state.ts";
import { syncFolder } from "../sync-folder.ts";
import { entryError, hasCode, toToolError } from "../system-error.ts";
import { type Buffers, checkSaved, explainUnsaved, findUnsaved, saveAll, type Unsaved } from "./buffers.ts";
import { diffOfEdit } from "./compare.ts";
import { type Disk, realDisk } from "./disk.ts";
import { type Change, kindOfChange } from "./file-step.ts";
import { createJournal } from "./journal.ts";
import { createLock } from "./lock.ts";
import { findFree, findPlace } from "./new-place.ts";
import { checkPermissions } from "./ownership.ts";
import { type PatchRequest, readRequest, toBases } from "./patch-request.ts";
import { type Bases, type FileReport, nameInPatch, type Plan, pathsIn, planPatch } from "./plan-patch.ts";
import { checkOtherNames, checkWritable } from "./protected-paths.ts";
import { checkSize, kindAt, MAX_EDIT_BYTES, readExisting } from "./read-before.ts";
import { checkConfirmed, createRemoval, toRemovable } from "./removal.ts";
import { removeEmptyFolders } from "./rollback.ts";
import { createSeal } from "./seal.ts";
import { createTransactions, isSetOf } from "./transaction.ts";
import { surveyRemoval } from "./tree.ts";
import { planUndo, runUndo } from "./undo.ts";
import {
  createUndoRecords,
  type FileEntry,
  toFileEntries,
  type Undo,
  type UndoStep,
} from "./undo-records.ts";

/** The error of an edit that found an earlier one unfinished and could not recover it. */
export interface Noted {
  readonly note?: string;
}

export interface PatchResult extends Noted {
  readonly patch_id: string;
  readonly files: readonly FileReport[];
  /** null after a dry run. */
  readonly undo: Ref | null;
  /** The changes that a dry run would make. */
  readonly diff?: string;
}

export interface EditsOptions {
  readonly confinement: Confinement;
  readonly blobs: Blobs;
  readonly state: StateFolder;
  warn(message: string): void;
  readonly disk?: Disk;
}

export type Edits = ReturnType<typeof createEdits>;

/** The only way in which files of the workspace change. One edit at a time, among all processes. */
export function createEdits({ confinement, blobs, state, warn, disk = realDisk }: EditsOptions) {
  const folder = state.folder("edits");
  // One for all workspaces: other servers may have some of these files among other roots.
  const lock = createLock(join(state.base, "lock"));
  const sealOf = createSeal(state.secret);
  const journalFile = join(folder, "journal");
  const journal = createJournal({ file: journalFile, roots: confinement.roots, sealOf, warn, disk });
  const transactions = createTransactions({ confinement, disk, blobs }, journal);
  const records = createUndoRecords(sealOf);
  const removal = createRemoval({ confinement, blobs, transactions, records, folder: state.folder("trash") });

  /** Failures of recovery, for the next answer. */
  let untold: string | undefined;
  /** Another process may have died since the last time, so every edit starts with a search for unfinished changes. */
  const alone = <T extends object>(work: () => Promise<T> | T, signal?: AbortSignal): Promise<T & Noted> =>
    lock.hold(async () => {
      untold = (await confinement.withoutDenials(transactions.recover)) ?? untold;
      const result = await work();
      const note = untold;
      untold = undefined;
      return { ...result, ...(note !== undefined && { note }) };
    }, signal);

  const commit = async ({ changes, folders }: Omit<Plan, "reports">, signal?: AbortSignal): Promise<Ref> => {
    // For one file, waiting for the disk here would cost more than the edit; a power failure can lose its undo, never
    // the file. A set of files waits for the disk many times anyway, and its undo is worth more.
    const durable = isSetOf(changes);
    const old = changes.flatMap(({ before }) => before ?? []);
    const step = { files: toFileEntries(changes), folders: folders.map(pathToUri), modes: [] };
    const record = toBlob(records.encode({ kind: "steps", steps: [step], resumes: false }));
    blobs.putAll([...old, record], { durable });
    if (changes.length > 0) await transactions.run(changes, folders, signal);
    return toRef(record.hash);
  };

  const context = { confinement, blobs, disk, transactions };
  const putUndo = (steps: UndoStep[], resumes: boolean): Ref => {
    const record = toBlob(records.encode({ kind: "steps", steps, resumes }));
    // The content of a folder, which a record may bring back.
    blobs.putAll([record, toBlob(Buffer.alloc(0))], { durable: resumes });
    return toRef(record.hash);
  };
  const dryRun = ({ reports, changes }: Plan) => ({
    files: reports,
    undo: null,
    diff: diffOf(confinement, changes),
  });
  let buffers: Buffers | undefined;
  /** The person's unsaved text counts as the file's. */
  const planChecked = (patch: readonly FileChange[], bases: Bases, unsaved: Unsaved = new Map()): Plan => {
    try {
      const plan = planPatch(confinement, blobs, patch, bases, unsaved);
      checkOtherNames(confinement, plan.changes);
      checkPermissions(plan.changes);
      return plan;
    } catch (cause) {
      throw explainUnsaved(cause, unsaved);
    }
  };
  const applyUndo = async (undo: Undo, dry_run: boolean, signal?: AbortSignal) => {
    if (undo.kind === "tree") {
      const how = "without dry_run it brings the folder back";
      if (dry_run)
        throw new ToolError("UNSUPPORTED", `undoing the removal of a folder has no dry run; ${how}`, {
          what: "dry_run of this undo",
          how,
        });
      const { uri, deleted, undo: inverse } = await removal.undo(undo.tree, signal);
      return { files: [toTreeReport(uri, deleted)], undo: inverse };
    }
    if (dry_run) return dryRun(planUndo(context, undo));
    const changed = undo.steps.flatMap(({ files }) => files.map(({ uri }) => confinement.toPath(uri)));
    checkSaved(await findUnsaved(confinement, buffers, changed));
    const { reports, inverse } = await runUndo(context, undo, signal);
    return { files: reports, undo: putUndo(inverse, undo.resumes) };
  };

  const filesOf = (ref: string): readonly FileEntry[] => {
    const undo = records.parse(blobs.get(ref.replace(/^blob:/, "")));
    return undo?.kind === "steps" ? undo.steps.flatMap(({ files }) => files) : [];
  };

  return {
    async apply(request: PatchRequest, signal?: AbortSignal): Promise<PatchResult> {
      const pacer = createPacer(signal);
      const asked = readRequest(confinement, blobs, records, request);
      if (pacer.due()) await pacer.pause();
      const patch_id = newHandle("patch", Date.now());
      const { dry_run = false } = request;
      return alone(async () => {
        if ("undo" in asked) return { patch_id, ...(await applyUndo(asked.undo, dry_run, signal)) };
        const bases = toBases(confinement, request, asked.patch);
        const unsaved = await findUnsaved(confinement, buffers, pathsIn(confinement, asked.patch));
        const onScreen = planChecked(asked.patch, bases, unsaved);
        if (dry_run) return { patch_id, ...dryRun(onScreen) };
        await saveAll(buffers, unsaved);
        const plan = unsaved.size === 0 ? onScreen : planChecked(asked.patch, bases);
        return { patch_id, files: plan.reports, undo: await commit(plan, signal) };
      }, signal);
    },
    /** From now on, edits take into account the text that the person has open in an editor. */
    useBuffers(open: Buffers): void {
      buffers = open;
    },
    /** The files that an undo ref restores; none for a removed folder. */
    filesOf,
    /** The diff of the edit that an undo ref takes back, as far as its files have not changed since. */
    diffOf: (ref: string): string => diffOfEdit(confinement, blobs, filesOf(ref)),
    /** Everything that an undo ref changes; undefined when no record is stored under it. */
    undoneBy(ref: string): readonly Uri[] | undefined {
      const hash = ref.replace(/^blob:/, "");
      const undo = blobs.has(hash) ? records.parse(blobs.get(hash)) : undefined;
      if (undo?.kind === "tree") return [undo.tree.uri];
      return undo?.steps.flatMap(({ files, folders, modes }) => [
        ...[...files, ...modes].map(({ uri }) => uri),
        ...folders,
      ]);
    },
    /** Stores the undo of a change made elsewhere, such as by a command; apply() accepts the ref. */
    recordUndo: (steps: UndoStep[]): Ref => putUndo(steps, true),

    /** Throws when no file can be created there. */
    checkFree: (uri: Uri): void => void findFree(confinement, confinement.toPath(uri)),

    /** Creates a missing file and its parent folders. */
    create: (
      uri: Uri,
      bytes: Buffer,
      signal?: AbortSignal,
    ): Promise<{ uri: Uri; hash: Hash; undo: Ref } & Noted> =>
      alone(async () => {
        checkSize(uri, bytes.length);
        const { path, missing } = findFree(confinement, confinement.toPath(uri));
        const hash = hashOf(bytes);
        const change: Change = { path, before: null, after: { kind: "file", bytes, hash } };
        const undo = await commit({ changes: [change], folders: missing }, signal);
        return { uri: pathToUri(path), hash, undo };
      }, signal),

    makeFolder: (uri: Uri): Promise<{ uri: Uri; created: boolean } & Noted> =>
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

    async remove(
      uri: Uri,
      { confirm, recursive }: { readonly confirm: boolean; readonly recursive: boolean },
      signal?: AbortSignal,
    ): Promise<{ uri: Uri; removed: number; undo: Ref } & Noted> {
      const done = await alone(async () => {
        const path = toRemovable(confinement, uri);
        const found = await surveyRemoval(confinement, path, signal);
        checkConfirmed(found, confirm, recursive);
        checkSaved(await findUnsaved(confinement, buffers, [path]));
        const result = { uri: pathToUri(path), removed: found.count };
        if (found.kind === "file" && found.bytes <= MAX_EDIT_BYTES) {
          const changes = [{ path, before: readExisting(confinement, path), after: null }];
          return { ...result, undo: await commit({ changes, folders: [] }, signal) };
        }
        return { ...result, undo: await removal.remove(path, signal) };
      }, signal);
      await removal.emptyTrash();
      return done;
    },

    /** Rolls back the unfinished change of a crashed process. Cheap when there is none. */
    async recover(): Promise<void> {
      await removal.emptyTrash();
      if (!statSync(journalFile, { throwIfNoEntry: false })?.size) return;
      untold = (await alone(() => ({}))).note;
    },
    /** Instructions for repairing by hand the edits that could be neither finished nor rolled back. */
    givenUp: journal.givenUp,
    /** Closes as soon as no edit is under way. */
    async close(): Promise<void> {
      await lock.close();
      journal.close();
    },
  };
}

const diffOf = (confinement: Confinement, changes: readonly Change[]): string =>
  changes
    // git cannot represent an empty folder.
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

/** A file where a folder was asked for. */
function toExists(confinement: Confinement, cause: unknown, path: Path): unknown {
  if (!hasCode(cause, "NOT_A_DIRECTORY")) return cause;
  const kind = kindAt(confinement, path);
  return kind ? entryError("ALREADY_EXISTS", path, `already exists, as a ${kind}`) : cause;
}
