import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, renameSync, type Stats, symlinkSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { type Hash, ToolError, type Uri } from "@octant/core";
import { z } from "zod";
import type { Blobs } from "../blobs/blobs.ts";
import { type Confinement, type FileKind, kindOf, splitPath } from "../confinement.ts";
import { createPacer } from "../files/pacer.ts";
import { comparePaths, fromNative, type Path, pathToUri, toBytes, toNative } from "../path.ts";
import { syncFolder } from "../sync-folder.ts";
import { entryError, toToolError } from "../system-error.ts";
import { NEW_FILE, openFile, realDisk, writeDurably } from "./disk.ts";
import { keepsTree } from "./protected-paths.ts";
import { readExisting, readTarget } from "./read-before.ts";
import type { Transactions } from "./transaction.ts";

/** The entries at and below a path. */
export interface Survey {
  readonly kind: FileKind;
  readonly count: number;
  readonly bytes: number;
  /** The first few. */
  readonly uris: readonly Uri[];
  /** Changes when anything below is added, removed or written. */
  readonly fingerprint: Hash;
}

interface Entry {
  readonly path: Path;
  readonly kind: FileKind;
  readonly stat: Stats;
}

const MAX_SHOWN = 20;

/** Surveys everything that would be removed with `path`, and refuses protected entries. */
export async function surveyRemoval(
  confinement: Confinement,
  path: Path,
  signal?: AbortSignal,
): Promise<Survey> {
  let kind: FileKind | undefined;
  let count = 0;
  let bytes = 0;
  const uris: Uri[] = [];
  const digest = createHash("sha256");
  for await (const entry of walk(confinement, path, signal)) {
    const { name } = splitPath(entry.path);
    // Removing a folder must not silently remove a repository or agent settings inside it.
    if (entry.path !== path && keepsTree(name)) throw holdsProtected(path, entry.path, name);
    kind ??= entry.kind;
    count += 1;
    if (entry.kind === "file") bytes += entry.stat.size;
    if (uris.length < MAX_SHOWN) uris.push(pathToUri(entry.path));
    const version = entry.kind === "directory" ? "" : `${entry.stat.size} ${entry.stat.mtimeMs}`;
    digest.update(`${JSON.stringify(entry.path)} ${entry.kind} ${version}\n`);
  }
  return { kind: kind!, count, bytes, uris, fingerprint: `sha256:${digest.digest("hex")}` };
}

/** The entry itself and everything below it, folder by folder in the order of names; links are not followed. */
async function* walk(confinement: Confinement, path: Path, signal?: AbortSignal): AsyncGenerator<Entry> {
  using top = confinement.openEntry(path);
  yield { path, kind: kindOf(top.stat), stat: top.stat };
  const folders = top.stat.isDirectory() ? [path] : [];
  const pacer = createPacer(signal);
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const below: Path[] = [];
    for (const entry of entriesOf(confinement, folder)) {
      yield entry;
      if (entry.kind === "directory") below.push(entry.path);
      if (pacer.due()) await pacer.pause();
    }
    folders.push(...below.reverse());
  }
}

function* entriesOf(confinement: Confinement, path: Path): Generator<Entry> {
  try {
    using folder = confinement.openFolder(path);
    const names = readdirSync(folder.at("."), { encoding: "buffer" }).map(fromNative).sort(comparePaths);
    for (const name of names) {
      const stat = lstatSync(folder.at(name), { throwIfNoEntry: false });
      if (stat) yield { path: `${path}/${name}`, kind: kindOf(stat), stat };
    }
  } catch (cause) {
    throw toToolError(cause, pathToUri(path));
  }
}

function holdsProtected(top: Path, path: Path, rule: string): ToolError {
  const uri = pathToUri(path);
  const message = `${pathToUri(top)} holds ${uri}, which is protected; ask the person to remove it by hand`;
  return new ToolError("PROTECTED_PATH", message, { uri, rule });
}

const MAX_STORED_FILES = 10_000;
const MAX_STORED_BYTES = 256 * 1024 * 1024;

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
    if (items.length >= MAX_STORED_FILES) throw tooLarge(path, MAX_STORED_FILES, "files");
    if (bytes > MAX_STORED_BYTES) throw tooLarge(path, MAX_STORED_BYTES, "bytes");
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
      else {
        using file = openFile(realDisk, at(item), NEW_FILE, item.mode);
        await writeDurably(realDisk, file.fd, blobs.get(item.hash));
      }
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

/** Moves the tree away atomically, then deletes it. */
export const discardTree = (transactions: Transactions, path: Path): Promise<void> =>
  transactions.withTemporary(path, async ({ folder, target, temp }) => {
    renameSync(target, temp);
    syncFolder(folder.at("."));
  });

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
