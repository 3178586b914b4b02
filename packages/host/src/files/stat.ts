import { readlinkSync, realpathSync } from "node:fs";
import { posix } from "node:path";
import { type Hash, ToolError } from "@octant/core";
import { type Confinement, type FileKind, kindOf, splitPath } from "../confinement.ts";
import { errnoOf } from "../errno.ts";
import { fromNative, isWithin, type Path, pathToUri } from "../path.ts";
import { toToolError } from "../system-error.ts";
import type { FactsCache, ScanOptions } from "./file-facts.ts";
import { toTimestamp } from "./timestamp.ts";

export interface EntryInfo extends LinkInfo {
  readonly uri: string;
  readonly kind: FileKind;
  readonly size: number;
  /** Of files; null above MAX_HASHED_BYTES. */
  readonly hash?: Hash | null;
  readonly mtime: string;
  /** Four octal digits. */
  readonly mode: string;
}

interface LinkInfo {
  /** Where a link leads, if that is inside the workspace. */
  readonly target?: string;
  /** The link points outside the workspace; its target is not revealed. */
  readonly outside?: true;
  /** Nothing is there. */
  readonly broken?: true;
}

/** A sparse file of a terabyte costs nothing to make, and an hour to hash. */
export const MAX_HASHED_BYTES = 256 * 1024 * 1024;

const PERMISSIONS = 0o7777;

/** The entry at the path itself: links are not followed. */
export async function statEntry(
  confinement: Confinement,
  facts: FactsCache,
  path: Path,
  options: ScanOptions,
): Promise<EntryInfo> {
  using entry = confinement.openEntry(path);
  const { stat } = entry;
  const kind = kindOf(stat);
  const uri = pathToUri(entry.path);
  try {
    return {
      uri,
      kind,
      size: stat.size,
      ...(kind === "file" && { hash: await hashFile(confinement, facts, entry.path, options) }),
      mtime: toTimestamp(stat.mtimeMs),
      mode: (stat.mode & PERMISSIONS).toString(8).padStart(4, "0"),
      ...(kind === "symlink" && readLink(confinement, entry.path)),
    };
  } catch (cause) {
    throw toToolError(cause, uri);
  }
}

async function hashFile(
  confinement: Confinement,
  facts: FactsCache,
  path: Path,
  options: ScanOptions,
): Promise<Hash | null> {
  using file = confinement.openFile(path);
  if (file.stat.size > MAX_HASHED_BYTES) return null;
  return (await facts.of(file.fd, options)).hash;
}

function readLink(confinement: Confinement, path: Path): LinkInfo {
  const isInside = (place: Path) => confinement.roots.some((root) => isWithin(root, place));
  const { parent, name } = splitPath(path);
  using folder = confinement.openFolder(parent);
  try {
    const real = fromNative(realpathSync.native(folder.at(name), { encoding: "buffer" }));
    return isInside(real) ? { target: pathToUri(real) } : { outside: true };
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
  }
  const written = fromNative(readlinkSync(folder.at(name), { encoding: "buffer" }));
  const target = posix.resolve(folder.path, written);
  return isInside(target) && !leadsOut(confinement, splitPath(target).parent)
    ? { target: pathToUri(target), broken: true }
    : { outside: true };
}

/** A path that looks inside may pass through a link that leads out; then nothing is revealed about it. */
function leadsOut(confinement: Confinement, folder: Path): boolean {
  try {
    confinement.openFolder(folder)[Symbol.dispose]();
    return false;
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
    return cause.code === "OUTSIDE_WORKSPACE";
  }
}
