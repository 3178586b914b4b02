import type { RankedHit, SearchParts } from "@octant/search";

/** The index gives no more than it is asked for, and hidden files take places in it. */
const OVERFETCH_FACTOR = 4;

/**
 * The parts of a search without the files that a rule hides. Ranks and scores are counted anew: a gap would reveal what
 * a hidden file contains.
 */
export function toVisible(
  { engine, grep, paths }: SearchParts,
  isHidden: (path: string) => boolean,
): SearchParts {
  async function* visible<T extends { readonly path: string }>(files: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const file of files) if (!isHidden(file.path)) yield file;
  }
  return {
    engine: {
      async rank(query, options) {
        const all = await engine.rank(query, { ...options, limit: options.limit * OVERFETCH_FACTOR });
        return rankAgain(all.filter(({ file }) => !isHidden(file)).slice(0, options.limit));
      },
      async symbols(name, options) {
        const all = await engine.symbols(name, { ...options, limit: options.limit * OVERFETCH_FACTOR });
        return all.filter(({ file }) => !isHidden(file)).slice(0, options.limit);
      },
      outline: (path) => engine.outline(path),
      syntax: {
        structures: (query) => visible(engine.syntax.structures(query)),
        occurrences: (query) => visible(engine.syntax.occurrences(query)),
      },
    },
    grep,
    async *paths(signal) {
      for await (const path of paths(signal)) if (!isHidden(path)) yield path;
    },
  };
}

const rankAgain = (hits: readonly RankedHit[]): RankedHit[] =>
  hits.map((hit, at) => ({
    ...hit,
    score: 1 / (at + 1),
    why: hit.why.map(({ strategy, rank }) => ({ strategy, rank: placeIn(hits, strategy, rank) })),
  }));

const placeIn = (hits: readonly RankedHit[], wanted: string, own: number): number =>
  1 + hits.filter(({ why }) => why.some(({ strategy, rank }) => strategy === wanted && rank < own)).length;
