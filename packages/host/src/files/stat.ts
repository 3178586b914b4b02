import { readlinkSync, realpathSync } from "node:fs";
import { posix } from "node:path";
import { Hash, ToolError } from "@octant/core";
import { z } from "zod";
import { type Confinement, FileKind, kindOf, splitPath } from "../confinement.ts";
import { errnoOf } from "../errno.ts";
import { fromNative, isWithin, type Path, pathToUri } from "../path.ts";
import { toToolError } from "../system-error.ts";
import type { FactsCache, ScanOptions } from "./file-facts.ts";
import { toTimestamp } from "./timestamp.ts";

/** Only a target inside the workspace is revealed. */
const LinkInfo = z.object({
  target: z.string().optional().describe("Link target inside the workspace"),
  outside: z.literal(true).optional().describe("The link points outside the workspace"),
  broken: z.literal(true).optional().describe("The link target does not exist"),
});

export const EntryInfo = z.object({
  uri: z.string(),
  kind: FileKind,
  size: z.int(),
  hash: Hash.nullable().optional().describe("Of files; null above 256 MiB"),
  mtime: z.string(),
  mode: z.string().describe("Octal, such as 0644"),
  ...LinkInfo.shape,
});

/** A sparse file of a terabyte costs nothing to make, and an hour to hash. */
export const MAX_HASHED_BYTES = 256 * 1024 * 1024;

const PERMISSIONS = 0o7777;

/** The entry at the path itself: links are not followed. */
export async function statEntry(
  confinement: Confinement,
  facts: FactsCache,
  path: Path,
  options: ScanOptions,
): Promise<z.output<typeof EntryInfo>> {
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

function readLink(confinement: Confinement, path: Path): z.output<typeof LinkInfo> {
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
