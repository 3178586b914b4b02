import { join } from "node:path";
import { ToolError } from "@octant/core";
import { createLock, errnoOf, makeFolders } from "@octant/host";
import type { UserFolder } from "./places.ts";

/** Runs `work` while no other process changes the same file of the person's folder; `work` sees the others' writes. */
export async function whileLocked<T>(
  { path }: UserFolder,
  name: "settings" | "trust" | "credentials",
  work: () => T | Promise<T>,
  options: { readonly doing: string; readonly giveUpMs?: number } = { doing: "writing settings" },
): Promise<T> {
  try {
    makeFolders(path, 0o700);
    const where = { place: "the folder of your settings", ...options };
    const lock = createLock(join(path, `${name}.lock`), where);
    return await lock.hold(work).finally(lock.close);
  } catch (cause) {
    throw toWriteError(cause);
  }
}

/** Converts an operating system error to a typed error for the caller; returns other errors unchanged. */
function toWriteError(cause: unknown): unknown {
  const errno = errnoOf(cause);
  if (errno === undefined || cause instanceof ToolError) return cause;
  const options = { cause };
  if (errno === "ENOSPC" || errno === "EDQUOT") {
    const message = "the disk is full or the quota is used up; nothing was changed";
    return new ToolError("NO_SPACE", message, {}, options);
  }
  const isRefused = ["EACCES", "EPERM", "EROFS", "ENOTDIR"].includes(errno);
  const message = `the settings cannot be written (${errno})`;
  return new ToolError(isRefused ? "ACCESS_DENIED" : "IO_ERROR", message, {}, options);
}
