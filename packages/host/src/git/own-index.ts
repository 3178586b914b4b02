import { randomBytes } from "node:crypto";
import { closeSync, copyFileSync, existsSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { ToolError } from "@octant/core";
import { errnoOf } from "../errno.ts";
import { type Path, pathToUri, toNative } from "../path.ts";
import { toToolError } from "../system-error.ts";
import type { Repository } from "./git.ts";

export interface OwnIndex {
  readonly indexFile: Path;
  /** Puts bytes where git can read them; returns where. */
  writeFile(name: string, bytes: Uint8Array): Path;
}

/**
 * Lets `work` change a copy of the index that takes the index's place when it is done. Meanwhile the index is locked
 * as git itself locks it.
 */
export async function withOwnIndex<T>(
  { gitDir }: Repository,
  work: (own: OwnIndex) => Promise<T>,
): Promise<T> {
  const index = `${gitDir}/index`;
  const lock = `${index}.lock`;
  const own = `${index}.octant-${randomBytes(8).toString("hex")}`;
  const written: Path[] = [];
  takeLock(lock);
  try {
    if (existsSync(toNative(index))) copyFileSync(toNative(index), toNative(own));
    const result = await work({
      indexFile: own,
      writeFile(name, bytes) {
        const file = `${own}.${name}`;
        written.push(file);
        writeFileSync(toNative(file), bytes, { mode: 0o600, flag: "wx" });
        return file;
      },
    });
    renameSync(toNative(own), toNative(index));
    return result;
  } catch (cause) {
    throw toToolError(cause, pathToUri(gitDir));
  } finally {
    for (const file of [own, ...written, lock]) rmSync(toNative(file), { force: true });
  }
}

function takeLock(lock: Path): void {
  try {
    closeSync(openSync(toNative(lock), "wx"));
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST") throw toToolError(cause, pathToUri(lock));
    const message =
      "another git process is using this repository (index.lock exists); try again when it is done";
    throw new ToolError("LOCKED", message, {}, { cause });
  }
}
