import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { attempt, invalidArgument, type Ref, ToolError, type Uri } from "@octant/core";
import { type Blobs, toRef } from "../blobs/blobs.ts";
import { type Confinement, splitPath } from "../confinement.ts";
import { errnoOf } from "../errno.ts";
import { isWithin, type Path, pathToUri } from "../path.ts";
import { syncFolder } from "../sync-folder.ts";
import { entryError, toToolError } from "../system-error.ts";
import { findFree } from "./new-place.ts";
import { checkWritable } from "./protected-paths.ts";
import type { Transactions } from "./transaction.ts";
import { discardTree, restoreTree, type Survey, storeTree, surveyRemoval, taken } from "./tree.ts";
import type { TreeEntry, UndoRecords } from "./undo-records.ts";

export interface RemovalParts {
  readonly confinement: Confinement;
  readonly blobs: Blobs;
  readonly transactions: Transactions;
  readonly records: UndoRecords;
  /** Holds removed folders for a while. */
  readonly folder: string;
}

/** Removes whole folders, and restores them. Call it under the lock. */
export function createRemoval({ confinement, blobs, transactions, records, folder }: RemovalParts) {
  const trash = createTrash(confinement, folder);
  const storeRecord = (entry: TreeEntry): Ref =>
    toRef(blobs.put(records.encode({ kind: "tree", tree: entry }), { durable: true }));

  /** Removes the entry at the path, of any kind, and returns an undo ref. */
  const remove = async (path: Path, signal?: AbortSignal): Promise<Ref> => {
    const uri = pathToUri(path);
    const id = trash.newId();
    const undo = storeRecord({ uri, tree: "trash", id });
    if (trash.take(path, id)) {
      trash.expire();
      return undo;
    }
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
    emptyTrash: trash.empty,
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

const MAX_RETAINED = 20;
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;

/** Holds removed folders for a while, so that removing and undoing them is cheap at any size. */
function createTrash(confinement: Confinement, folder: string) {
  const move = (path: Path, perform: (there: string | Buffer) => void) => {
    const { parent, name } = splitPath(path);
    using above = confinement.openFolder(parent);
    try {
      perform(above.at(name));
      syncFolder(above.at("."));
      syncFolder(folder);
    } catch (cause) {
      throw toToolError(cause, pathToUri(path));
    }
  };

  return {
    newId: (): string => `${Date.now().toString(16).padStart(12, "0")}${randomBytes(10).toString("hex")}`,
    /** Moves the entry here; false when it is on another file system. */
    take(path: Path, id: string): boolean {
      try {
        move(path, (there) => renameSync(there, join(folder, id)));
        return true;
      } catch (cause) {
        if (cause instanceof ToolError && errnoOf(cause.cause) === "EXDEV") return false;
        throw cause;
      }
    },
    giveBack(id: string, path: Path): void {
      const kept = join(folder, id);
      if (!lstatSync(kept, { throwIfNoEntry: false }))
        throw entryError("NOT_FOUND", path, "was removed, and its content is no longer stored");
      move(path, (there) => {
        if (lstatSync(there, { throwIfNoEntry: false })) throw taken(path);
        renameSync(kept, there);
      });
    },
    /** Marks old entries, and all but the newest few, for deletion. Call it under the lock. */
    expire(): void {
      const ids = namesIn(folder).filter((name) => !name.startsWith(EXPIRED));
      const oldest = Date.now() - MAX_AGE_MS;
      for (const [i, id] of ids.sort().reverse().entries()) {
        // An id starts with its creation time.
        if (i < MAX_RETAINED && Number.parseInt(id.slice(0, 12), 16) >= oldest) continue;
        // A failure is retried next time; the caller's request is done.
        attempt(() => renameSync(join(folder, id), join(folder, EXPIRED + id)));
      }
    },
    /** Deletes marked entries; slow, and needs no lock. */
    async empty(): Promise<void> {
      for (const name of namesIn(folder)) {
        if (!name.startsWith(EXPIRED)) continue;
        // An entry that cannot be removed now, such as a read-only folder, only takes space.
        await rm(join(folder, name), { recursive: true, force: true }).catch(() => {});
      }
    },
  };
}

const EXPIRED = "expired-";

/** Empty when the folder no longer exists. */
const namesIn = (folder: string): string[] => attempt(() => readdirSync(folder)) ?? [];
