import { availableParallelism } from "node:os";
import type { Path } from "../../path.ts";
import type { Needs } from "./needs.ts";
import { startTrigramThread, type TrigramThread } from "./trigram-thread.ts";

/** Where a pattern must be searched; it does not occur anywhere else below the folder. */
export interface SearchPlaces {
  readonly files: readonly Path[];
  /** Only their direct entries. */
  readonly folders: readonly Path[];
}

export type RootIndex = ReturnType<typeof createRootIndex>;

export interface RootIndexOptions {
  readonly root: Path;
  readonly env: NodeJS.ProcessEnv;
  /** As ripgrep lists them. */
  listFiles(signal: AbortSignal): AsyncIterable<readonly Path[]>;
  readonly minFiles: number;
  readonly startThread?: (() => TrigramThread) | undefined;
}

const MAX_THREADS = 2;
/** Above this the signatures take too much memory. */
const MAX_FILES = 200_000;
/** A share of the files; when more of them may match, ripgrep alone is as fast. */
const MAX_SHARE = 1 / 8;
const MIN_CANDIDATES = 100;
/** After this many failed attempts no index is built. */
const MAX_DISAGREEMENTS = 3;
/** When files came or went in more folders than this, the index is brought up to date. */
const MAX_CHANGED_FOLDERS = 4;

/** The trigrams of all files below one root. */
export function createRootIndex(options: RootIndexOptions) {
  const { root, env, listFiles, minFiles, startThread = startTrigramThread } = options;
  let state: "new" | "building" | "ready" | "off" = "new";
  let files = 0;
  let disagreements = 0;
  let threads: readonly TrigramThread[] = [];
  let building: Promise<void> | undefined;
  const closed = new AbortController();

  const turnOff = async (next: "new" | "off") => {
    state = next;
    const ended = threads;
    threads = [];
    await Promise.all(ended.map((thread) => thread.close()));
  };

  const build = async () => {
    // Before the files are listed, so that later changes are detected.
    if (threads.length === 0)
      threads = Array.from({ length: Math.min(MAX_THREADS, availableParallelism()) }, startThread);
    const folders = new Set(await threads[0]!.call("takeTree", root, env));
    const shards = threads.map((): Path[] => []);
    files = 0;
    for await (const paths of listFiles(closed.signal))
      for (const path of paths) {
        // The folder is new, or ripgrep enters folders that the index does not: then the index is unreliable.
        if (!folders.has(folderOf(path))) return turnOff(++disagreements < MAX_DISAGREEMENTS ? "new" : "off");
        shards[hashOf(path) % shards.length]!.push(path);
        files++;
      }
    if (files < minFiles || files > MAX_FILES) return turnOff("off");
    await Promise.all(threads.map((thread, at) => thread.call("setFiles", shards[at] ?? [])));
    state = "ready";
  };

  const startBuild = () => {
    if (state === "off") return Promise.resolve();
    state = "building";
    building ??= build()
      .catch(() => turnOff("off"))
      .finally(() => {
        building = undefined;
      });
    return building;
  };

  return {
    get state() {
      return state;
    },
    /** How many files it knows. */
    get files() {
      return files;
    },
    /** Brings it up to date. Never rejects: an index that cannot be built is off. */
    build: startBuild,
    /** Undefined unless the places are certain to be complete. */
    async find(needs: Needs, scope: Path): Promise<SearchPlaces | undefined> {
      if (state !== "ready") return undefined;
      const limit = Math.max(MIN_CANDIDATES, files * MAX_SHARE) / threads.length;
      const [changed, ...found] = await Promise.all([
        threads[0]!.call("changedFolders", scope),
        ...threads.map((thread) => thread.call("find", { needs, scope, limit })),
      ]);
      if (changed === undefined || changed.length > MAX_CHANGED_FOLDERS) void startBuild();
      if (changed === undefined) return undefined;
      const folders = new Set(changed);
      const named: Path[] = [];
      for (const candidates of found) {
        if (candidates === "too many") return undefined;
        for (const path of candidates.unnamed) folders.add(folderOf(path));
        named.push(...candidates.files);
      }
      return { files: named.filter((path) => !folders.has(folderOf(path))), folders: [...folders] };
    },
    async close() {
      closed.abort();
      await turnOff("off");
    },
  };
}

const folderOf = (path: Path): Path => path.slice(0, path.lastIndexOf("/")) || "/";

/** Assigns a file to a thread. */
function hashOf(path: Path): number {
  let hash = 0;
  for (let at = path.length - 1; at >= 0 && at > path.length - 16; at--)
    hash = (hash * 31 + path.charCodeAt(at)) >>> 0;
  return hash;
}
