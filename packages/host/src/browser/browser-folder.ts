import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive, thisProcess } from "../jobs/process-identity.ts";

const NAME = /^octant-browser-(\d+:\d*)-/;

/** A private folder for one browser. Removes folders of killed servers. */
export function makeBrowserFolder(): string {
  for (const name of readdirSync(tmpdir())) {
    const [, server] = NAME.exec(name) ?? [];
    if (server !== undefined && !isAlive(server)) removeIfOurs(join(tmpdir(), name));
  }
  return mkdtempSync(join(tmpdir(), `octant-browser-${thisProcess()}-`));
}

function removeIfOurs(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // It belongs to another user.
  }
}
