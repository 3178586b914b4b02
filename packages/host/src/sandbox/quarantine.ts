import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { attempt } from "@octant/core";
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
    ...absent.filter((path) => lstatOf(path) && !isOurs(path, quarantine)).filter((path) => move(path)),
    ...repositories.filter(lstatOf).flatMap((path) => disarmRepository(path, move)),
  ];
}

/**
 * Makes a missing protected folder that the guards of other processes on this workspace leave in place. It is noted in
 * the quarantine before it gets its name, because they look as soon as it appears.
 */
export function makeOurs(path: Path, quarantine: string): void {
  if (lstatOf(path)) return;
  const made = toNative(`${path}-${randomBytes(8).toString("hex")}`);
  mkdirSync(made, { mode: 0o700 });
  const note = noteOf(made, quarantine);
  if (note !== undefined) {
    mkdirSync(join(quarantine, "ours"), { recursive: true, mode: 0o700 });
    writeFileSync(note, "");
  }
  renameSync(made, toNative(path));
}

const isOurs = (path: Path, quarantine: string): boolean => {
  const note = attempt(() => noteOf(toNative(path), quarantine));
  return note !== undefined && lstatOf(note) !== undefined;
};

/** Named by what a command cannot give to another folder; undefined on a file system that does not tell when one was made. */
function noteOf(folder: Parameters<typeof lstatSync>[0], quarantine: string): string | undefined {
  const { dev, ino, birthtimeNs } = lstatSync(folder, { bigint: true });
  return birthtimeNs > 0n ? join(quarantine, "ours", `${dev}-${ino}-${birthtimeNs}`) : undefined;
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
