import { invalidArgument, type Ref, ToolError, type Uri } from "@octant/core";
import { type Blobs, toRef } from "../blobs/blobs.ts";
import { type Confinement, splitPath } from "../confinement.ts";
import { isWithin, type Path, pathToUri } from "../path.ts";
import { entryError } from "../system-error.ts";
import { findFree } from "./new-place.ts";
import { checkWritable } from "./protected-paths.ts";
import { discardTree, restoreTree, storeTree } from "./stored-tree.ts";
import { type Survey, surveyRemoval } from "./survey.ts";
import type { Transactions } from "./transaction.ts";
import type { Trash } from "./trash.ts";
import type { TreeEntry, UndoRecords } from "./undo-records.ts";

export interface RemovalParts {
  readonly confinement: Confinement;
  readonly blobs: Blobs;
  readonly transactions: Transactions;
  readonly trash: Trash;
  readonly records: UndoRecords;
}

/** Takes whole folders away, and brings them back. Call it under the lock. */
export function createRemoval({ confinement, blobs, transactions, trash, records }: RemovalParts) {
  const storeRecord = (entry: TreeEntry): Ref =>
    toRef(blobs.put(records.encodeTree(entry), { durable: true }));

  /** Removes the entry at the path, of any kind, and returns an undo ref. */
  const remove = async (path: Path, signal?: AbortSignal): Promise<Ref> => {
    const uri = pathToUri(path);
    const id = trash.newId();
    const undo = storeRecord({ uri, tree: "trash", id });
    if (trash.take(path, id)) return undo;
    const manifest = await storeTree(confinement, blobs, path, signal);
    const undoFromBlobs = storeRecord({ uri, tree: "blobs", manifest });
    await discardTree(transactions, path);
    return undoFromBlobs;
  };

  const restore = async (entry: Exclude<TreeEntry, { tree: "remove" }>, signal?: AbortSignal) => {
    const { path, missing } = findFree(confinement, confinement.toPath(entry.uri));
    if (missing.length > 0) confinement.makeFolder(splitPath(path).parent)[Symbol.dispose]();
    if (entry.tree === "trash") trash.giveBack(entry.id, path);
    else await restoreTree(transactions, blobs, path, entry.manifest, signal);
    const { fingerprint } = await surveyRemoval(confinement, path, signal);
    return storeRecord({ uri: entry.uri, tree: "remove", fingerprint });
  };

  return {
    remove,
    /** Applies an undo record and returns the ref that reverses it. */
    async undo(entry: TreeEntry, signal?: AbortSignal) {
      const { uri } = entry;
      if (entry.tree !== "remove") return { uri, undo: await restore(entry, signal), deleted: false };
      const path = toRemovable(confinement, uri);
      const { fingerprint } = await surveyRemoval(confinement, path, signal);
      const difference = { expected: entry.fingerprint, actual: fingerprint };
      if (fingerprint !== entry.fingerprint)
        throw entryError("CONFLICT", path, "has changed since; nothing was removed", difference);
      return { uri, undo: await remove(path, signal), deleted: true };
    },
  };
}

/** The real path of a removable entry; a link itself is removed, not its target. */
export function toRemovable(confinement: Confinement, uri: Uri): Path {
  const asked = confinement.toPath(uri);
  if (!confinement.roots.includes(asked)) {
    const { parent, name } = splitPath(asked);
    using folder = confinement.openFolder(parent);
    const path = `${folder.path === "/" ? "" : folder.path}/${name}`;
    checkWritable(confinement.roots, asked, path);
    if (!confinement.roots.some((root) => isWithin(path, root))) return path;
  }
  const what = "is a root of the workspace or holds one; it cannot be removed";
  throw entryError("PROTECTED_PATH", asked, what, { rule: "workspace root" });
}

export function checkConfirmed(found: Survey, confirm: boolean, recursive: boolean): void {
  const isFullFolder = found.kind === "directory" && found.count > 1;
  if (!confirm) {
    const { count, bytes, uris } = found;
    const next = isFullFolder ? "confirm: true and recursive: true" : "confirm: true";
    const message = `this would remove ${entries(count)} (${bytes} bytes); pass ${next}`;
    throw new ToolError("CONFIRM_REQUIRED", message, { would: { count, bytes, uris } });
  }
  if (!isFullFolder || recursive) return;
  const message = `the folder is not empty (${entries(found.count - 1)}); pass recursive: true to remove it with all in it`;
  throw invalidArgument("recursive", message);
}

const entries = (count: number): string => `${count} ${count === 1 ? "entry" : "entries"}`;
