import { invalidArgument, Ref, type RefReader, schemeOf, ToolError } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import type { Confinement } from "../confinement.ts";
import { type Path, pathToUri } from "../path.ts";
import { toToolError } from "../system-error.ts";
import { createFactsCache, type ScanOptions } from "./file-facts.ts";
import { type EntryPage, type ListOptions, listEntries } from "./list.ts";
import { type Opened, type Reading, type ReadOptions, readFile } from "./read-file.ts";
import { type EntryInfo, statEntry } from "./stat.ts";
import { toTimestamp } from "./timestamp.ts";

/** Opens the content of a ref; NOT_FOUND when it does not exist or belongs to another caller. */
export type RefOpener = (ref: string, owner: string) => Pick<Opened, "fd" | "size" | "hash"> & Disposable;

export interface FilesOptions {
  readonly confinement: Confinement;
  readonly blobs: Blobs;
  readonly env: NodeJS.ProcessEnv;
  /** By scheme, such as `stdout`, beside `blob`. */
  readonly refs?: Readonly<Record<string, RefOpener>>;
}

export type Files = ReturnType<typeof createFiles>;

/** Reads the workspace; nothing here changes it. */
export function createFiles({ confinement, blobs, env, refs = {} }: FilesOptions) {
  const facts = createFactsCache();
  const openBlob: RefOpener = (ref) => {
    const hash = ref.slice("blob:".length);
    return { hash, ...blobs.open(hash) };
  };
  const openers = new Map<string, RefOpener>(Object.entries({ ...refs, blob: openBlob }));
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
    return { ...opener(ref, owner), uri: ref };
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
    /** Adds a ref scheme of a tool; returns a function that removes it. */
    addRefScheme(scheme: string, read: RefReader): () => void {
      if (hasRefScheme(scheme)) throw new TypeError(`ref scheme '${scheme}' already exists`);
      readers.set(scheme, read);
      return () => void readers.delete(scheme);
    },
    /** A file by its uri, or stored content by its ref. */
    async read(uri: string, options: ReadOptions): Promise<Reading> {
      const reader = isRef(uri) ? readers.get(schemeOf(uri)) : undefined;
      if (reader) return readFromTool(uri, options, reader);
      const file = open(uri, options.owner);
      return orToolError(file.uri, readFile(file, options, facts));
    },
    stat: (uri: string, options: ScanOptions): Promise<EntryInfo> =>
      statEntry(confinement, facts, toPlace(confinement, uri), options),
    list: (uri: string, options: Omit<ListOptions, "folder">): Promise<EntryPage> =>
      listEntries(confinement, env, { ...options, folder: toPlace(confinement, uri) }),
  };
}

/** Reports a system error in the middle of reading to the caller. */
const orToolError = <T>(uri: string, work: Promise<T>): Promise<T> =>
  work.catch((cause: unknown) => {
    throw toToolError(cause, uri);
  });

/** Validation costs as much as opening a file, so most paths skip it. */
const isRef = (uri: string): boolean =>
  uri.includes(":") && !uri.startsWith("file:") && Ref.safeParse(uri).success;

/** The path of something in the workspace. A ref reads like a file but has no path. */
export function toPlace(confinement: Confinement, uri: string): Path {
  if (!isRef(uri)) return confinement.toPath(uri);
  throw invalidArgument("uri", `${uri} is a ref; only fs.read takes it. Give a file or folder here`);
}
