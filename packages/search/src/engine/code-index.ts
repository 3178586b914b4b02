import { createTermCutter } from "../text/terms.ts";
import { type ChunkRankerOptions, createChunkRanker, type RankStrategy } from "./chunk-ranker.ts";
import type { ParsedFile } from "./parse-file.ts";
import { type FileState, openIndexStore, type StoredChunk, type StoredSymbol } from "./store.ts";

export interface RankedHit extends StoredChunk {
  readonly score: number;
  readonly why: readonly { readonly strategy: string; readonly rank: number }[];
}

/** Everything that is known about the code, in the thread that it is asked in. */
export interface CodeIndex extends Disposable {
  /** Of the files that are there now, those that must be read (again). What is not there any more is forgotten. */
  plan(listed: readonly Omit<FileState, "hash">[]): string[];
  put(file: FileState, parsed: ParsedFile): void;
  remove(path: string): void;
  /** Learns anew when enough has changed. */
  settle(): void;
  rank(query: string, options: RankOptions): RankedHit[];
  /** The best names first: the same, the same but for case, beginnings, parts, letters in order. */
  symbols(name: string, options: { kind?: string; scope?: string; limit: number }): StoredSymbol[];
  outline(path: string): StoredSymbol[];
  counts(): { files: number; chunks: number; symbols: number; bytes: number };
}

export interface RankOptions {
  readonly strategies: readonly RankStrategy[];
  readonly limit: number;
  /** Only below this folder, or this file. */
  readonly scope?: string;
}

const FIRST_SPREAD = 8;

export function openCodeIndex(file: string, options: ChunkRankerOptions = {}): CodeIndex {
  const store = openIndexStore(file);
  const cutTerms = createTermCutter();
  let ranker = createChunkRanker(options);
  let known = new Set<number>();
  let last = 0;
  let version = store.version();

  const load = () => {
    for (const { id, terms } of store.terms(last)) {
      ranker.add(id, terms);
      known.add(id);
      last = id;
    }
  };
  /** Another server of this workspace may have written. */
  const follow = () => {
    const now = store.version();
    if (now === version) return;
    version = now;
    const there = new Set(store.chunkIds());
    for (const id of known) {
      if (there.has(id)) continue;
      ranker.remove(id);
      known.delete(id);
    }
    load();
  };
  const forget = (gone: readonly number[]) => {
    for (const id of gone) {
      ranker.remove(id);
      known.delete(id);
    }
  };
  load();

  return {
    plan(listed) {
      follow();
      const before = store.files();
      const changed = listed.filter(({ path, size, mtimeMs }) => {
        const was = before.get(path);
        before.delete(path);
        return !was || was.size !== size || was.mtimeMs !== mtimeMs;
      });
      store.transaction(() => {
        for (const path of before.keys()) forget(store.remove(path));
      });
      return changed.map(({ path }) => path);
    },
    put(state, parsed) {
      store.transaction(() => {
        const { gone } = store.put(state, parsed);
        forget(gone);
      });
      load();
    },
    remove: (path) => forget(store.remove(path)),
    settle() {
      follow();
      if (!ranker.stale) return;
      // What was removed still takes up room; what is left is put into a new one.
      ranker = createChunkRanker(options);
      known = new Set();
      last = 0;
      load();
      ranker.learn();
    },
    rank(query, { strategies, limit, scope = "" }) {
      follow();
      const terms = cutTerms(query);
      for (let spread = scope ? FIRST_SPREAD : 1; ; spread *= FIRST_SPREAD) {
        const ranked = ranker.rank(terms, strategies, limit * spread);
        const hits = ranked.flatMap(({ id, score, why }) => {
          const chunk = store.chunk(id);
          return chunk && isIn(scope, chunk.file) ? [{ ...chunk, score, why }] : [];
        });
        if (hits.length >= limit || ranked.length < limit * spread) return hits.slice(0, limit);
      }
    },
    symbols(name, { kind, scope = "", limit }) {
      follow();
      const wanted = (symbol: StoredSymbol) =>
        (kind === undefined || symbol.kind === kind) && isIn(scope, symbol.file);
      const last = name.split(/\.|::|#|->/).at(-1) ?? name;
      const found: StoredSymbol[] = [];
      for (const pattern of patternsFor(last)) {
        const names = pattern === undefined ? [last] : store.namesLike(pattern, MAX_NAMES);
        for (const each of names) {
          const fresh = store
            .symbolsNamed(each)
            .filter((symbol) => wanted(symbol) && !found.some((other) => isSame(other, symbol)));
          found.push(...fresh.sort(byFit(name)));
          if (found.length >= limit) return found.slice(0, limit);
        }
      }
      return found;
    },
    outline: (path) => store.symbolsOf(path),
    counts: store.counts,
    [Symbol.dispose]: () => store[Symbol.dispose](),
  };
}

const MAX_NAMES = 200;

const isIn = (scope: string, file: string) =>
  scope === "" || scope === "." || file === scope || file.startsWith(`${scope.replace(/\/$/, "")}/`);

const isSame = (a: StoredSymbol, b: StoredSymbol) => a.file === b.file && a.path === b.path;

/** From the closest to the loosest; undefined is the name itself. */
function patternsFor(name: string): (string | undefined)[] {
  const plain = name.replace(/[\\%_]/g, "\\$&");
  const letters = [...name].map((letter) => letter.replace(/[\\%_]/g, "\\$&")).join("%");
  return [undefined, `${plain}%`, `%${plain}%`, `%${letters}%`];
}

/** The case as it was asked for comes first, then a definition with a body before a declaration, then the shortest path. */
const byFit =
  (asked: string) =>
  (a: StoredSymbol, b: StoredSymbol): number =>
    fit(b, asked) - fit(a, asked) || a.path.length - b.path.length || compare(a.file, b.file);

function fit({ name, path, range }: StoredSymbol, asked: string): number {
  const normal = asked.replace(/::|#|->/g, ".");
  const exact = path === normal || path.endsWith(`.${normal}`) ? 4 : name === asked ? 2 : 0;
  return exact + (range.end.line > range.start.line ? 1 : 0);
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
