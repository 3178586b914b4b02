import { constants, lstatSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { type Hash, ToolError } from "@octant/core";
import { z } from "zod";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import { createPacer } from "../files/pacer.ts";
import { fromNative, type Path, pathToUri, toBytes, toNative } from "../path.ts";
import { syncFolder } from "../sync-folder.ts";
import { entryError } from "../system-error.ts";
import { realDisk, withFile, writeDurably } from "./disk.ts";
import { readExisting, readTarget } from "./existing-file.ts";
import { walk } from "./survey.ts";
import type { Transactions } from "./transaction.ts";

const MAX_KEPT_FILES = 10_000;
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

/** Paths start at the tree's own top, whose path is "". */
const Item = z.discriminatedUnion("kind", [
  z.strictObject({ path: z.string(), kind: z.literal("directory"), mode: z.int() }),
  z.strictObject({ path: z.string(), kind: z.literal("file"), mode: z.int(), hash: z.string() }),
  z.strictObject({ path: z.string(), kind: z.literal("symlink"), to: z.string() }),
]);
type Item = z.output<typeof Item>;

/** Stores everything at and below `path` in the blob store; returns the hash of the listing. */
export async function storeTree(
  confinement: Confinement,
  blobs: Blobs,
  path: Path,
  signal?: AbortSignal,
): Promise<Hash> {
  const items: Item[] = [];
  let bytes = 0;
  for await (const entry of walk(confinement, path, signal)) {
    const place = { path: entry.path.slice(path.length) };
    const mode = entry.stat.mode & 0o7777;
    if (entry.kind === "file") bytes += entry.stat.size;
    if (items.length >= MAX_KEPT_FILES) throw tooLarge(path, MAX_KEPT_FILES, "files");
    if (bytes > MAX_KEPT_BYTES) throw tooLarge(path, MAX_KEPT_BYTES, "bytes");
    if (entry.kind === "directory") items.push({ ...place, kind: entry.kind, mode });
    else if (entry.kind === "symlink")
      items.push({ ...place, kind: entry.kind, to: fromNative(readTarget(confinement, entry.path)) });
    else if (entry.kind === "file") {
      const hash = blobs.put(readExisting(confinement, entry.path).bytes, { durable: true });
      items.push({ ...place, kind: entry.kind, mode, hash });
    } else throw cannotStore(entry.path, entry.kind);
  }
  return blobs.put(Buffer.from(JSON.stringify(items)), { durable: true });
}

/** Builds the tree beside its place and moves it there, so that it is there as a whole or not at all. */
export function restoreTree(
  transactions: Transactions,
  blobs: Blobs,
  path: Path,
  manifest: Hash,
  signal?: AbortSignal,
): Promise<void> {
  const items = z.array(Item).parse(JSON.parse(blobs.get(manifest).toString()));
  return transactions.withTemporary(path, async ({ folder, target, temp }) => {
    const pacer = createPacer(signal);
    const at = (item: Item) => Buffer.concat([Buffer.from(temp), toBytes(item.path)]);
    for (const item of items) {
      if (item.kind === "directory") mkdirSync(at(item), { mode: 0o700 });
      else if (item.kind === "symlink") symlinkSync(toNative(item.to), at(item));
      else
        await withFile(realDisk, at(item), NEW_FILE, item.mode, (fd) =>
          writeDurably(realDisk, fd, blobs.get(item.hash)),
        );
      if (pacer.due()) await pacer.pause();
    }
    // Last, and from the inside: a folder may be read-only.
    for (const item of items.toReversed()) {
      if (item.kind === "directory") syncFolder(at(item));
      if (item.kind !== "symlink") await chmod(at(item), item.mode);
    }
    if (lstatSync(target, { throwIfNoEntry: false })) throw taken(path);
    renameSync(temp, target);
    syncFolder(folder.at("."));
  });
}

/** Takes the tree away at once, and then apart. */
export const discardTree = (transactions: Transactions, path: Path): Promise<void> =>
  transactions.withTemporary(path, async ({ folder, target, temp }) => {
    renameSync(target, temp);
    syncFolder(folder.at("."));
  });

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

const HOW = "remove it in parts, or with a command (then it cannot be undone)";

const tooLarge = (path: Path, limit: number, what: string) => {
  const message = `${pathToUri(path)} has more than ${limit} ${what}, too many to store for an undo on another file system; ${HOW}`;
  return new ToolError("TOO_LARGE", message, { limit, what });
};

const cannotStore = (path: Path, what: string) => {
  const message = `${pathToUri(path)} is a ${what}, which cannot be stored for an undo; ${HOW}`;
  return new ToolError("UNSUPPORTED", message, { what, how: HOW });
};

export const taken = (path: Path) => entryError("ALREADY_EXISTS", path, "already exists; move it away first");
