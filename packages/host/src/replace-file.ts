import { randomBytes } from "node:crypto";
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "./sync-folder.ts";

export interface ReplaceOptions {
  readonly mode: number;
  /** Whether the new content survives a crash of the machine once this returns; true when absent. */
  readonly durable?: boolean;
}

/** Writes a draft and renames it into place, so that readers see the old content or the new. Even a link is replaced. */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode, durable = true }: ReplaceOptions,
): void {
  const folder = dirname(path);
  const draft = join(folder, `.${basename(path)}.${randomBytes(8).toString("hex")}`);
  try {
    const fd = openSync(draft, "wx", mode);
    try {
      fchmodSync(fd, mode);
      writeFileSync(fd, content);
      if (durable) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, path);
    if (durable) syncFolder(folder);
  } finally {
    // After the rename it no longer exists.
    rmSync(draft, { force: true });
  }
}
