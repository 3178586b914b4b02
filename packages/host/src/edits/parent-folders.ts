import { ToolError } from "@octant/core";
import { type Confinement, type PinnedFolder, splitPath } from "../confinement.ts";
import { type Path, pathToUri } from "../path.ts";
import { syncFolder } from "../sync-folder.ts";
import type { Disk } from "./disk.ts";
import type { Change, Work } from "./file-step.ts";
import type { Step } from "./journal.ts";

/** The folders of a set of changes, created where missing and held open. */
export interface ParentFolders extends Disposable {
  workOn(change: Change, step: Step): Work;
  /** Makes the names in all of them durable, including those of created folders. */
  sync(disk: Disk, made?: readonly Path[]): void;
}

export function openParents(
  confinement: Confinement,
  changes: readonly Change[],
  missing: readonly Path[],
): ParentFolders {
  using opened = new DisposableStack();
  const folders = new Map<Path, PinnedFolder>();
  for (const path of missing) confinement.makeFolder(path)[Symbol.dispose]();
  for (const { path } of changes) {
    const { parent } = splitPath(path);
    if (folders.has(parent)) continue;
    const folder = confinement.openFolder(parent, { readable: true });
    folders.set(parent, opened.use(folder));
    if (folder.path !== parent) throw moved(parent);
  }
  const kept = opened.move();

  return {
    workOn(change, step) {
      const { parent, name } = splitPath(change.path);
      const folder = folders.get(parent)!;
      return { change, step, folder, target: folder.at(name), expected: change.before?.stat };
    },
    sync(disk, made = []) {
      for (const { fd } of folders.values()) disk.fsyncSync(fd);
      for (const path of made) {
        using above = confinement.openFolder(splitPath(path).parent);
        syncFolder(above.at("."), disk);
      }
    },
    [Symbol.dispose]: () => kept.dispose(),
  };
}

const moved = (parent: Path) =>
  new ToolError("NOT_FOUND", `${pathToUri(parent)} was moved during the edit; try again`, {
    uri: pathToUri(parent),
  });
