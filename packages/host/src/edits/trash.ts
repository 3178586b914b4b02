import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { type Confinement, splitPath } from "../confinement.ts";
import { errnoOf } from "../errno.ts";
import { type Path, pathToUri } from "../path.ts";
import { syncFolder } from "../sync-folder.ts";
import { entryError, toToolError } from "../system-error.ts";
import { taken } from "./stored-tree.ts";

const MAX_KEPT = 20;
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;

export type Trash = ReturnType<typeof createTrash>;

/** Holds removed folders for a while, so that removing and undoing are cheap at any size. */
export function createTrash(confinement: Confinement, folder: string) {
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

  const markExpired = (id: string) => {
    try {
      renameSync(join(folder, id), join(folder, EXPIRED + id));
    } catch {
      // Retried next time; the caller's request is done.
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
      const expired = ids
        .sort()
        .reverse()
        .filter((id, i) => i >= MAX_KEPT || timeOf(id) < oldest);
      for (const id of expired) markExpired(id);
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
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** An id starts with its creation time. */
const timeOf = (id: string): number => Number.parseInt(id.slice(0, 12), 16);
