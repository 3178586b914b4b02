import { type Hash, type RefReader, schemeOf, ToolError } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import { pathToUri } from "../path.ts";
import { toToolError } from "../system-error.ts";
import type { Opened, Reading } from "./file-content.ts";
import { createFactsCache, type FactsCache, type ScanOptions } from "./file-facts.ts";
import { type EntryPage, type ListOptions, listEntries } from "./list.ts";
import { type ReadOptions, readFile } from "./read-file.ts";
import { isRef, toPlace } from "./refs.ts";
import { type EntryInfo, statEntry } from "./stat.ts";
import { toTimestamp } from "./timestamp.ts";

/** Reads the workspace; nothing here changes it. */
export interface Files {
  /** Adds a ref scheme of a tool; returns a function that removes it. */
  addRefScheme(scheme: string, read: RefReader): () => void;
  hasRefScheme(scheme: string): boolean;
  /** A file by its uri, or stored content by its ref. */
  read(uri: string, options: ReadOptions): Promise<Reading>;
  stat(uri: string, options: ScanOptions): Promise<EntryInfo>;
  list(uri: string, options: Omit<ListOptions, "folder">): Promise<EntryPage>;
}

/** Opens the content of a ref; NOT_FOUND when it does not exist or belongs to another caller. */
export type RefOpener = (ref: string, owner: string) => Pick<Opened, "fd" | "size" | "hash"> & Disposable;

export interface FilesOptions {
  readonly confinement: Confinement;
  readonly blobs: Blobs;
  readonly env: NodeJS.ProcessEnv;
  /** By scheme, such as `stdout`, beside `blob`. */
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
  const openers = new Map<string, RefOpener>(Object.entries({ ...refs, blob: blobOpener(blobs) }));

  const readers = new Map<string, RefReader>();

  const open = (uri: string, owner: string): Opened => {
    if (isRef(uri)) return openRef(uri, owner);
    const { fd, path, stat, [Symbol.dispose]: dispose } = confinement.openFile(confinement.toPath(uri));
    return {
      fd,
      size: stat.size,
      uri: pathToUri(path),
      mtime: toTimestamp(stat.mtimeMs),
      [Symbol.dispose]: dispose,
    };
  };
  const openRef = (ref: string, owner: string): Opened => {
    const opener = openers.get(schemeOf(ref));
    if (!opener) throw new ToolError("NOT_FOUND", `no tool here serves ${ref}`, { id: ref });
    const { fd, size, hash, [Symbol.dispose]: dispose } = opener(ref, owner);
    return { fd, size, uri: ref, ...(hash && { hash }), [Symbol.dispose]: dispose };
  };

  /** Content of tools goes through the blob store, so that it reads by range like everything else. */
  const readFromTool = async (ref: string, options: ReadOptions, read: RefReader) => {
    const hash = blobs.put(Buffer.from(await read(ref, options.owner)), { durable: false });
    const file = { ...openRef(`blob:${hash}`, options.owner), uri: ref };
    return orToolError(ref, readFile(file, options, facts));
  };

  const hasRefScheme = (scheme: string) => readers.has(scheme) || openers.has(scheme);

  return {
    hasRefScheme,
    addRefScheme(scheme, read) {
      if (hasRefScheme(scheme)) throw new TypeError(`ref scheme '${scheme}' already exists`);
      readers.set(scheme, read);
      return () => void readers.delete(scheme);
    },
    async read(uri, options) {
      const reader = isRef(uri) ? readers.get(schemeOf(uri)) : undefined;
      if (reader) return readFromTool(uri, options, reader);
      const file = open(uri, options.owner);
      return orToolError(file.uri, readFile(file, options, facts));
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

/** Reports a system error in the middle of reading to the caller. */
const orToolError = <T>(uri: string, work: Promise<T>): Promise<T> =>
  work.catch((cause: unknown) => {
    throw toToolError(cause, uri);
  });
