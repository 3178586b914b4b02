import { randomBytes } from "node:crypto";
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ToolError } from "@octant/core";
import { syncFolder } from "@octant/host";

/** Writes atomically, also across a crash. An existing entry is replaced, even a link. */
export function writeWhole(path: string, text: string, mode: number): void {
  const folder = dirname(path);
  const draft = join(folder, `.${basename(path)}.${randomBytes(8).toString("hex")}`);
  try {
    const fd = openSync(draft, "wx", mode);
    try {
      fchmodSync(fd, mode);
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, path);
    syncFolder(folder);
  } finally {
    // After the rename it no longer exists.
    rmSync(draft, { force: true });
  }
}

/** Converts an operating system error to a typed error for the caller; returns other errors unchanged. */
export function toWriteError(cause: unknown): unknown {
  if (!(cause instanceof Error && "code" in cause) || cause instanceof ToolError) return cause;
  const options = { cause };
  switch (cause.code) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
    case "ENOTDIR":
      return new ToolError("ACCESS_DENIED", `the settings cannot be written (${cause.code})`, {}, options);
    case "ENOSPC":
    case "EDQUOT":
      return new ToolError(
        "NO_SPACE",
        "the disk is full or the quota is used up; nothing was changed",
        {},
        options,
      );
    default:
      return new ToolError("IO_ERROR", `the settings cannot be written (${cause.code})`, {}, options);
  }
}
