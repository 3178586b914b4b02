import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { type Path, toNative } from "../path.ts";
import { disarmRepository } from "./new-repository.ts";
import { lstatOf } from "./tree.ts";

/** Protected entries that were missing when the first of the running commands started. Plain data: the supervisor gets it too. */
export interface Guarded {
  readonly absent: readonly Path[];
  /** `.git` of roots without one. A command may run `git init`, but may leave no hook and no program in its config. */
  readonly repositories: readonly Path[];
  /** A folder that commands cannot reach. */
  readonly quarantine: string;
}

/** Moves every protected entry that commands created meanwhile out of the project; returns their paths. */
export function quarantineNew({ absent, repositories, quarantine }: Guarded): Path[] {
  const move = (path: Path, name = basename(path)): boolean => moveOut(path, name, quarantine);
  return [
    ...absent.filter(lstatOf).filter((path) => move(path)),
    ...repositories.filter(lstatOf).flatMap((path) => disarmRepository(path, move)),
  ];
}

/** A rename does not follow a link at the end of the path. False when the entry no longer exists. */
function moveOut(path: Path, name: string, quarantine: string): boolean {
  const id = randomBytes(8).toString("hex");
  const folder = join(quarantine, id);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    renameSync(toNative(path), join(folder, name));
    return true;
  } catch {
    // The state folder is full or on another file system: the entry stays, under a name that no program reads.
  }
  try {
    renameSync(toNative(path), toNative(`${path}.quarantined-${id}`));
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code !== "ENOENT"; // fs throws nothing else.
  }
}
