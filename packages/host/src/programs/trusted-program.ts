import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { release } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { attempt } from "@octant/core";
import { fromNative, isWithin, type Path } from "../path.ts";
import { words } from "../words.ts";

declare const trusted: unique symbol;

/** The absolute path of a program that may run outside the sandbox. */
export type TrustedProgram = string & { readonly [trusted]: true };

/** Folders that only an administrator installs to. The PATH is not used: npx puts a project's folders first on it. */
const UNIX_FOLDERS = words(`
  /usr/bin /bin /usr/sbin /sbin /usr/local/bin /run/wrappers/bin
  /run/current-system/sw/bin /nix/var/nix/profiles/default/bin /opt/homebrew/bin
`);
const SYSTEM_FOLDERS = process.platform === "win32" ? ["C:\\Windows\\System32"] : UNIX_FOLDERS;

/** The PATH for a trusted program that starts others by name. */
export const TRUSTED_PATH = [...SYSTEM_FOLDERS, "/snap/bin", "/var/lib/flatpak/exports/bin"].join(delimiter);

/** A program of the system; never one in, or linked into, a folder that commands can write to. */
export const findTrusted = (name: string, writable: readonly Path[] = []): TrustedProgram | undefined =>
  SYSTEM_FOLDERS.map((folder) => join(folder, name)).find(
    (path): path is TrustedProgram => isProgram(path) && !isInside(writable, path),
  );

/** The PowerShell of Windows, also from WSL, which mounts its drive. Only an administrator writes to that folder. */
export function findPowerShell(): TrustedProgram | undefined {
  const drive = process.platform === "win32" ? "C:" : /microsoft/i.test(release()) ? "/mnt/c" : undefined;
  const path = `${drive}/Windows/System32/WindowsPowerShell/v1.0/powershell.exe`;
  return drive !== undefined && isProgram(path) ? (path as TrustedProgram) : undefined; // Not looked up by name.
}

/** The Node that runs this process. Its folder is read-only in the sandbox. */
export const thisNode = (): TrustedProgram => process.execPath as TrustedProgram; // Not looked up by name.

/** A program of this install, which is read-only in the sandbox. */
export const bundledProgram = (path: string): TrustedProgram => path as TrustedProgram; // The caller resolved it by module.

/** The PATH without folders that a project brings along: those in its roots and in any node_modules. */
export const pathOutsideProjects = (path: string, roots: readonly Path[]): string =>
  path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isInNodeModules(folder) && !isInside(roots, folder))
    .join(delimiter);

/** The first program of this name on a PATH that is already free of projects, and that is not a link into a root. */
export const findOutsideProjects = (name: string, path: string, roots: readonly Path[]): string | undefined =>
  path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => isProgram(file) && !isInside(roots, file));

/**
 * The first program of this name on a PATH, which may be one of the project. A folder that is not absolute would lead
 * into whatever folder we happen to be in.
 */
export const findOnPath = (name: string, path = ""): string | undefined =>
  path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isProgram);

/** Most folders of a PATH do not hold the name, and a failed accessSync costs more than a stat. */
export const isProgram = (path: string): boolean =>
  isFile(path) &&
  (attempt(() => {
    accessSync(path, constants.X_OK);
    return true;
  }) ??
    false);

export const isFile = (path: string): boolean =>
  attempt(() => statSync(path, { throwIfNoEntry: false })?.isFile()) ?? false;

const isInNodeModules = (folder: string): boolean => folder.split("/").includes("node_modules");

function isInside(roots: readonly Path[], path: string): boolean {
  // A folder that is missing now may be created later.
  const real = attempt(() => fromNative(realpathSync.native(path, { encoding: "buffer" }))) ?? path;
  return roots.some((root) => isWithin(root, path) || isWithin(root, real));
}
