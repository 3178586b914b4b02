import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { ToolError } from "@octant/core";
import { isWithin } from "../path.ts";
import type { SandboxedCommand } from "./sandbox.ts";

/** A launcher starts anything and lets it print that it is not there, so we look first; EXEC_FAILED when it is not. */
export function findProgram({ argv: [program], env, folder }: SandboxedCommand): string {
  const places = program.includes("/")
    ? [resolve(folder, program)]
    : (env["PATH"] ?? "").split(":").map((path) => resolve(folder, path, program));
  const found = places.find(isProgram);
  if (found !== undefined) return found;
  const reason = places.some(exists)
    ? "it is not executable (EACCES)"
    : "there is no such program on the PATH (ENOENT)";
  throw new ToolError("EXEC_FAILED", `'${program}' could not be started: ${reason}`, { program });
}

/** A program of the system, never one that lies where commands can write. */
export function findTrusted(
  name: string,
  env: NodeJS.ProcessEnv,
  writable: readonly string[],
): string | undefined {
  const fromPath = (env["PATH"] ?? "").split(":").filter((path) => isAbsolute(path));
  return [...SYSTEM_PLACES, ...fromPath]
    .filter((path) => !writable.some((folder) => isWithin(folder, path)))
    .map((path) => join(path, name))
    .find(isProgram);
}

const SYSTEM_PLACES = [
  "/usr/bin",
  "/bin",
  "/usr/sbin",
  "/sbin",
  "/usr/local/bin",
  "/run/current-system/sw/bin",
];

/** Most of the PATH holds no such name, and to be told so by an error takes longer than the look. */
function isProgram(path: string): boolean {
  if (!exists(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}
