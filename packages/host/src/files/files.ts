import { type Hash, ToolError } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import { pathToUri } from "../path.ts";
import { toToolError } from "../system-error.ts";
import type { Opened, Reading } from "./file-content.ts";
import { createFactsCache, type FactsCache, type ScanOptions } from "./file-facts.ts";
import { createKeptFiles } from "./kept-files.ts";
import { type EntryPage, type ListOptions, listEntries } from "./list.ts";
import { type ReadOptions, readFile } from "./read-file.ts";
import { isRef, toPlace } from "./refs.ts";
import { type EntryInfo, statEntry } from "./stat.ts";
import { toTimestamp } from "./timestamp.ts";

/** Looking at the workspace: nothing here changes it. */
export interface Files {
  /** A file by its uri, or whatever else reads like one by its ref. */
  read(uri: string, options: ReadOptions): Reading | Promise<Reading>;
  stat(uri: string, options: ScanOptions): Promise<EntryInfo>;
  list(uri: string, options: Omit<ListOptions, "folder">): Promise<EntryPage>;
}

/** Opens what a ref stands for; NOT_FOUND when there is no such thing, or it is somebody else's. */
export type RefOpener = (ref: string, owner: string) => Pick<Opened, "fd" | "size" | "hash"> & Disposable;

export interface FilesOptions {
  readonly confinement: Confinement;
  readonly blobs: Blobs;
  readonly env: NodeJS.ProcessEnv;
  /** By the scheme of the ref, such as `stdout`. `blob` is known already. */
  readonly refs?: Readonly<Record<string, RefOpener>>;
  readonly facts?: FactsCache;
}

export function createFiles({
  confinement,
  blobs,
  env,
  refs = {},
  facts = createFactsCache(),
}: FilesOptions): Files {
  const kept = createKeptFiles(confinement);
  const openers = new Map<string, RefOpener>(Object.entries({ ...refs, blob: blobOpener(blobs) }));

  const open = (uri: string, owner: string): Opened => {
    if (isRef(uri)) return openRef(uri, owner);
    const { fd, path, stat, [Symbol.dispose]: dispose } = kept.open(confinement.toPath(uri));
    return {
      fd,
      size: stat.size,
      uri: pathToUri(path),
      mtime: toTimestamp(stat.mtimeMs),
      [Symbol.dispose]: dispose,
    };
  };
  const openRef = (ref: string, owner: string): Opened => {
    const opener = openers.get(ref.slice(0, ref.indexOf(":")));
    if (!opener) throw new ToolError("NOT_FOUND", `there is nothing behind ${ref}`, { id: ref });
    const { fd, size, hash, [Symbol.dispose]: dispose } = opener(ref, owner);
    return { fd, size, uri: ref, ...(hash && { hash }), [Symbol.dispose]: dispose };
  };

  return {
    read(uri, options) {
      const file = open(uri, options.owner);
      return orToolError(file.uri, () => readFile(file, options, facts));
    },
    stat: (uri, options) => statEntry(confinement, facts, toPlace(confinement, uri), options),
    list: (uri, options) => listEntries(confinement, env, { ...options, folder: toPlace(confinement, uri) }),
  };
}

const blobOpener =
  (blobs: Blobs): RefOpener =>
  (ref) => {
    const hash: Hash = ref.slice("blob:".length);
    const { fd, size, [Symbol.dispose]: dispose } = blobs.open(hash);
    return { fd, size, hash, [Symbol.dispose]: dispose };
  };

/** What the system says in the middle of reading, now or later, is the caller's to know. */
function orToolError<T>(uri: string, work: () => T | Promise<T>): T | Promise<T> {
  const rethrow = (cause: unknown): never => {
    throw toToolError(cause, uri);
  };
  try {
    const result = work();
    return result instanceof Promise ? result.catch(rethrow) : result;
  } catch (cause) {
    return rethrow(cause);
  }
}
