import { accessSync, constants, readFileSync, type Stats } from "node:fs";
import { attempt } from "@octant/core";
import { splitPath } from "../confinement.ts";
import { type Path, toNative } from "../path.ts";
import { entryError } from "../system-error.ts";
import type { Change } from "./file-step.ts";

/**
 * Whether the file is overwritten instead of replaced: replacing it would break its hard links or lose an owner that we
 * cannot set, or its folder accepts no new file.
 */
export function mustStayInPlace({ path, before, after }: Change): boolean {
  if (before?.kind !== "file" || after === null) return false;
  return before.stat.nlink > 1 || !canOwnLike(before.stat) || !canWriteInto(splitPath(path).parent);
}

/** Refuses a change that would need the permissions of a file that belongs to somebody else to be set. */
export function checkPermissions(changes: readonly Change[]): void {
  for (const { path, before, after } of changes) {
    if (before?.kind !== "file" || !after || before.stat.uid === process.geteuid?.() || isPrivileged())
      continue;
    const mode = before.stat.mode & 0o7777;
    if (((after.mode ?? mode) & 0o7777) !== mode)
      throw entryError("ACCESS_DENIED", path, "belongs to another user; only that user can change its mode");
    if ((mode & SET_ID) !== 0)
      throw entryError("ACCESS_DENIED", path, "has set-id bits that only its owner can preserve in an edit");
  }
}

const SET_ID = 0o6000;

export function canOwnLike({ uid, gid }: Stats): boolean {
  if (isPrivileged()) return true;
  const groups = [process.getegid?.(), ...(process.getgroups?.() ?? [])];
  return uid === process.geteuid?.() && groups.includes(gid);
}

/** Root may lack the capabilities in a container. */
function isPrivileged(): boolean {
  const me = process.geteuid?.();
  if (me !== 0) return me === undefined;
  const status = attempt(() => readFileSync("/proc/self/status", "latin1")) ?? "";
  const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m.exec(status) ?? [];
  return effective === undefined || (BigInt(`0x${effective}`) & CHOWN_AND_FOWNER) === CHOWN_AND_FOWNER;
}

const CHOWN_AND_FOWNER = (1n << 0n) | (1n << 3n);

const canWriteInto = (folder: Path): boolean =>
  attempt(() => accessSync(toNative(folder), constants.W_OK | constants.X_OK) ?? true) ?? false;
