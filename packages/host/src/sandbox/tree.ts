import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, realpathSync, renameSync, type Stats, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { errnoOf } from "../errno.ts";
import { fromNative, isWithin, type Path, toNative } from "../path.ts";
import type { Mount } from "./mount.ts";

export type Tree = ReturnType<typeof createTree>;

/**
 * The mounts of a sandbox, in order, each with a place to be mounted at. A launcher creates missing mount points itself and follows links while doing so. In a folder that commands can
 * write to, a planted link would let it create files anywhere. So there we create mount points ourselves: in the
 * folder itself, where a running command cannot move them, and for deeper ones below an empty mount that is fresh
 * each time.
 */
export function createTree() {
  const mounts: Mount[] = [];
  const kept = new Set<Mount>();

  const reserve = (mount: Mount): void => {
    const holder = holderOf(mounts, mount.at);
    if (!holder || !kept.has(holder) || !("source" in holder) || holder.at === mount.at) return;
    const [first = "", ...deeper] = mount.at.slice(holder.at.length).split("/").filter(Boolean);
    const isFolder =
      deeper.length > 0 || !("source" in mount) || statSync(toNative(mount.source)).isDirectory();
    makeMountPoint(join(holder.source, first), isFolder);
    if (deeper.length > 0) mounts.push({ kind: "empty", at: join(holder.at, first) });
  };

  return {
    mounts: mounts as readonly Mount[],
    holderOf: (path: Path): Mount | undefined => holderOf(mounts, path),
    /** `kept`: the source is one of our folders that commands write to and that outlives them. */
    add(mount: Mount, options?: { readonly kept: true }): void {
      reserve(mount);
      mounts.push(mount);
      if (options?.kept) kept.add(mount);
    },
    /** The real path that would be visible at this path; undefined when it is one of our folders. */
    sourceOf(path: Path): Path | undefined {
      const holder = holderOf(mounts, path);
      if (!holder || !("source" in holder) || kept.has(holder)) return undefined;
      return join(holder.source, path.slice(holder.at.length));
    },
  };
}

/** The mount that shows a path. */
export const holderOf = (mounts: readonly Mount[], path: Path): Mount | undefined =>
  mounts.findLast(({ kind, at }) => HOLDERS.has(kind) && isWithin(at, path));

const HOLDERS: ReadonlySet<Mount["kind"]> = new Set([
  "read",
  "write",
  "device",
  "empty",
  "devices",
  "processes",
]);

/**
 * Anything else there was planted by a command and is removed. Other servers of the workspace create the same mount
 * points at the same time, so each step may find that another was faster.
 */
function makeMountPoint(path: string, isFolder: boolean): void {
  const isThere = () => (isFolder ? lstatOf(path)?.isDirectory() : lstatOf(path)?.isFile()) ?? false;
  for (let attempt = 1; !isThere(); attempt++) {
    try {
      if (lstatOf(path)) moveAway(path);
      if (isFolder) mkdirSync(path, { mode: 0o755 });
      else writeFileSync(path, "", { flag: "wx" });
    } catch (cause) {
      const wasFaster = ["EEXIST", "ENOENT"].includes(errnoOf(cause) ?? "");
      if (!wasFaster || attempt === MAX_ATTEMPTS) throw cause;
    }
  }
}

const MAX_ATTEMPTS = 10;

/** Not removed: while we went through a folder, a command could put a link to somewhere else into our way. */
export const moveAway = (path: string): void => renameSync(path, `${path}.${randomBytes(8).toString("hex")}`);

/** The state of the entry itself: links are not followed. undefined when it is missing or cannot be reached. */
export const lstatOf = (path: Path): Stats | undefined =>
  attempt(() => lstatSync(toNative(path), { throwIfNoEntry: false }));

/** The same, with links followed. */
export const statOf = (path: string): Stats | undefined =>
  attempt(() => statSync(path, { throwIfNoEntry: false }));

export const realPath = (path: Path): Path | undefined =>
  attempt(() => fromNative(realpathSync(toNative(path), "buffer")));
