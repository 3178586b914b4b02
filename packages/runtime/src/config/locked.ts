import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { createLock } from "@octant/host";
import type { UserFolder } from "./places.ts";

/** Runs `work` while no other process changes the same file of the person's folder; `work` sees the others' writes. */
export async function whileLocked<T>(
  { path }: UserFolder,
  name: "settings" | "trust" | "credentials",
  work: () => T | Promise<T>,
  options: { readonly doing: string; readonly giveUpMs?: number } = { doing: "writing settings" },
): Promise<T> {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const where = { place: "the folder of your settings", ...options };
    const lock = createLock(join(path, `${name}.lock`), where);
    return await lock.hold(work).finally(lock.close);
  } catch (cause) {
    throw toWriteError(cause);
  }
}

/** Converts an operating system error to a typed error for the caller; returns other errors unchanged. */
function toWriteError(cause: unknown): unknown {
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
