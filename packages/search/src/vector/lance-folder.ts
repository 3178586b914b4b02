import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { requireLance } from "./lance-store.ts";

const FOLDER = /^lance-(\d+)$/;
const folderOf = (folder: string, pid: number): string => join(folder, `lance-${pid}`);

/**
 * A folder for the copy of this process; copies of ended processes are removed. undefined without LanceDB: the
 * embedded store then takes its place.
 */
export function prepareLanceFolder(folder: string, log: (line: string) => void): string | undefined {
  try {
    requireLance();
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
    log(`${cause.message}; until then, vectors are held in memory`);
    return undefined;
  }
  for (const name of readdirSync(folder)) {
    const [, pid] = FOLDER.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) removeLanceFolder(folder, Number(pid));
  }
  return folderOf(folder, process.pid);
}

export const removeLanceFolder = (folder: string, pid = process.pid): void =>
  rmSync(folderOf(folder, pid), { recursive: true, force: true });

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    // A process of another user is running too.
    return cause instanceof Error && "code" in cause && cause.code === "EPERM";
  }
}
