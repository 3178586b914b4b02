import type { Confinement } from "../../confinement.ts";
import { isWithin, type Path } from "../../path.ts";
import type { FolderSearch, Ripgrep, TextPattern } from "../ripgrep.ts";
import { needsOf } from "./needs.ts";
import { createRootIndex, type RootIndex, type SearchPlaces } from "./root-index.ts";
import type { TrigramThread } from "./trigram-thread.ts";

export type IndexedRipgrep = ReturnType<typeof createIndexedRipgrep>;

export interface IndexedRipgrepOptions {
  readonly ripgrep: Ripgrep;
  readonly confinement: Confinement;
  readonly env?: NodeJS.ProcessEnv;
  /** With fewer files ripgrep alone is fast enough. */
  readonly minFiles?: number;
  readonly startThread?: () => TrigramThread;
}

const MIN_FILES = 1_000;
/** A short command searches only once, so the index would not be used. */
const SEARCHES_BEFORE_INDEX = 1;
/** Well below the system's limit for process arguments. */
const MAX_NAMES_CHARS = 262_144;

/** ripgrep without the files that cannot match. The results are the same, and as fresh. */
export function createIndexedRipgrep(options: IndexedRipgrepOptions) {
  const { ripgrep, confinement, env = process.env, minFiles = MIN_FILES, startThread } = options;
  const indexes = new Map<Path, RootIndex>();
  let searches = 0;

  const indexOf = (root: Path): RootIndex => {
    const known = indexes.get(root);
    if (known) return known;
    const listFiles = (signal: AbortSignal) => ripgrep.files(root, { signal });
    const index = createRootIndex({ root, env, minFiles, listFiles, startThread });
    indexes.set(root, index);
    return index;
  };

  const placesFor = async (path: Path, pattern: TextPattern, how: FolderSearch) => {
    const { globs = [], includeIgnored, order } = how;
    // A glob may bring in files that are ignored otherwise.
    if (order !== "any" || includeIgnored || globs.length > 0) return undefined;
    const needs = needsOf(pattern);
    const folder = realFolder(confinement, path);
    const root = confinement.roots.find((one) => isWithin(one, folder));
    if (!needs || root === undefined) return undefined;
    const index = indexOf(root);
    if (index.state === "new" && searches++ >= SEARCHES_BEFORE_INDEX) void index.build();
    const places = await index.find(needs, folder);
    return places && nameable(places) ? places : undefined;
  };

  return {
    ...ripgrep,
    async *searchFolder(path: Path, pattern: TextPattern, how: FolderSearch) {
      const places = await placesFor(path, pattern, how);
      how.signal.throwIfAborted();
      if (places) how.onIndexed?.();
      yield* places
        ? ripgrep.searchPlaces(path, pattern, places, how)
        : ripgrep.searchFolder(path, pattern, how);
    },
    /** Brings the index of every root up to date; otherwise that starts with the second search. */
    async index() {
      await Promise.all(confinement.roots.map((root) => indexOf(root).build()));
    },
    /** How many files are indexed. */
    indexedFiles: (): number =>
      indexes.values().reduce((sum, { state, files }) => sum + (state === "ready" ? files : 0), 0),
    async close() {
      await Promise.all(indexes.values().map((index) => index.close()));
    },
  };
}

function realFolder(confinement: Confinement, path: Path): Path {
  using folder = confinement.openFolder(path);
  return folder.path;
}

/** Whether they can be given to a process, which takes only text and only so much of it. */
function nameable({ files, folders }: SearchPlaces): boolean {
  const names = [...files, ...folders];
  return (
    names.every((name) => name.isWellFormed()) &&
    names.reduce((sum, { length }) => sum + length + 1, 0) <= MAX_NAMES_CHARS
  );
}
