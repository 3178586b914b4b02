import { type Hash, invalidArgument, Ref, type RefReader, schemeOf, ToolError } from "@octant/core";
import type { Blobs } from "../blobs/blobs.ts";
import { openBlob } from "../blobs/open-blob.ts";
import type { Confinement } from "../confinement.ts";
import { type Path, pathToUri } from "../path.ts";
import { toToolError } from "../system-error.ts";
import { createFactsCache, type ScanOptions } from "./file-facts.ts";
import { type EntryPage, type ListOptions, listEntries } from "./list.ts";
import { type Opened, type Reading, type ReadOptions, readFile } from "./read-file.ts";
import { statEntry } from "./stat.ts";
import { toTimestamp } from "./timestamp.ts";

/** Opens the content of a ref; NOT_FOUND when it does not exist or belongs to another caller. */
export type RefOpener = (ref: string, owner: string) => Pick<Opened, "fd" | "size" | "hash"> & Disposable;

type FindRefReader = (scheme: string) => RefReader | undefined;

type AsyncRefOpener = (...args: Parameters<RefOpener>) => Promise<ReturnType<RefOpener>>;

export interface FilesOptions {
  readonly confinement: Confinement;
  readonly blobs: Blobs;
  /** A private folder for blobs that are being read. */
  readonly scratch: string;
  readonly env: NodeJS.ProcessEnv;
  /** By scheme, such as `stdout`, beside `blob`. */
  readonly refs?: Readonly<Record<string, RefOpener>>;
}

export type Files = ReturnType<typeof createFiles>;

/** Reads the workspace; nothing here changes it. */
export function createFiles({ confinement, blobs, scratch, env, refs = {} }: FilesOptions) {
  const facts = createFactsCache();
  const openStored = (hash: Hash) => openBlob(blobs, hash, scratch);
  const openers = new Map<string, RefOpener | AsyncRefOpener>(Object.entries(refs));
  openers.set("blob", (ref) => openStored(ref.slice("blob:".length)));

  let findReader: FindRefReader = () => undefined;
  // The content goes through the blob store, so that it reads by range like everything else.
  const toOpener =
    (read: RefReader): AsyncRefOpener =>
    async (ref, owner) =>
      openStored(blobs.put(Buffer.from(await read(ref, owner)), { durable: false }));
  const openerOf = (scheme: string) => {
    const opener = openers.get(scheme);
    if (opener) return opener;
    const read = findReader(scheme);
    return read && toOpener(read);
  };

  const open = async (uri: string, owner: string): Promise<Opened> => {
    if (isRef(uri)) {
      const opener = openerOf(schemeOf(uri));
      if (!opener) throw new ToolError("NOT_FOUND", `no tool here serves ${uri}`, { id: uri });
      return { ...(await opener(uri, owner)), uri };
    }
    const { path, stat, ...file } = confinement.openFile(confinement.toPath(uri));
    return { ...file, size: stat.size, uri: pathToUri(path), mtime: toTimestamp(stat.mtimeMs) };
  };

  return {
    /** Adds a ref scheme; returns a function that removes it. */
    addRefScheme(scheme: string, read: RefReader): () => void {
      if (openers.has(scheme)) throw new TypeError(`ref scheme '${scheme}' already exists`);
      openers.set(scheme, toOpener(read));
      return () => void openers.delete(scheme);
    },
    /** Looks up the schemes that nothing else serves here. */
    findRefReaders(find: FindRefReader): void {
      findReader = find;
    },
    /** A file by its uri, or stored content by its ref. */
    async read(uri: string, options: ReadOptions): Promise<Reading> {
      const file = await open(uri, options.owner);
      try {
        return await readFile(file, options, facts);
      } catch (cause) {
        throw toToolError(cause, file.uri);
      }
    },
    stat: (uri: string, options: ScanOptions) =>
      statEntry(confinement, facts, resolveUri(confinement, uri), options),
    list: (uri: string, options: Omit<ListOptions, "folder">): Promise<EntryPage> =>
      listEntries(confinement, env, { ...options, folder: resolveUri(confinement, uri) }),
  };
}

/** Validation costs as much as opening a file, so most paths skip it. */
const isRef = (uri: string): boolean =>
  uri.includes(":") && !uri.startsWith("file:") && Ref.safeParse(uri).success;

/** The path of something in the workspace. A ref reads like a file but has no path. */
export function resolveUri(confinement: Confinement, uri: string): Path {
  if (!isRef(uri)) return confinement.toPath(uri);
  throw invalidArgument("uri", `${uri} is a ref; only fs.read takes it. Give a file or folder here`);
}
