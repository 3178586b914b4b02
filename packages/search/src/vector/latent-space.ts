import { countTerms } from "../lexical/bm25f.ts";
import {
  addScaled,
  createDense,
  type Dense,
  multiply,
  multiplyTransposed,
  normalise,
  orthonormalise,
  type SparseRows,
} from "./sparse-rows.ts";

/**
 * Latent semantic analysis: words that occur in the same places come to lie in the same direction, so that a question
 * finds code that shares none of its words. Learned from the workspace's own code; nothing is downloaded.
 */
export interface LatentSpace {
  readonly dimensions: number;
  /** Where a text lies: a vector of length one, or zeros when none of its words is known. */
  place(terms: readonly string[]): Float32Array;
}

export interface LatentSpaceData {
  readonly terms: readonly string[];
  /** How much each term tells. */
  readonly rarity: Float32Array;
  readonly axes: Dense;
}

export const LATENT_DIMENSIONS = 128;
/** Each round brings the axes nearer to the best ones; more than three gain nothing that can be measured. */
const ROUNDS = 3;
const MAX_WORDS = 20_000;
const SEED = 0x2545_f491;

export function learnLatentSpace(
  documents: readonly (readonly string[])[],
  dimensions = LATENT_DIMENSIONS,
): LatentSpaceData {
  const { terms, rarity, matrix } = weigh(documents);
  const width = Math.min(dimensions, terms.length, documents.length);
  let axes = randomMatrix(matrix.columns, width);
  for (let round = 0; round < ROUNDS; round++)
    axes = multiplyTransposed(matrix, orthonormalise(multiply(matrix, axes)));
  return { terms, rarity, axes: orthonormalise(axes) };
}

export function createLatentSpace({ terms, rarity, axes }: LatentSpaceData): LatentSpace {
  const numbers = new Map(terms.map((term, number) => [term, number]));
  const { columns: dimensions, values } = axes;
  return {
    dimensions,
    place(given) {
      const vector = new Float32Array(dimensions);
      for (const [term, times] of countTerms(given)) {
        const number = numbers.get(term);
        if (number === undefined) continue;
        const weight = (1 + Math.log(times)) * (rarity[number] ?? 0);
        addScaled(vector, 0, values, number * dimensions, weight, dimensions);
      }
      return normalise(vector);
    },
  };
}

/** The documents as rows of weighted terms, each of length one. */
function weigh(documents: readonly (readonly string[])[]) {
  const counted = documents.map(countTerms);
  const { terms, rarity } = vocabularyOf(counted);
  const numbers = new Map(terms.map((term, number) => [term, number]));
  const starts = new Uint32Array(counted.length + 1);
  const column: number[] = [];
  const weight: number[] = [];
  for (const [row, counts] of counted.entries()) {
    for (const [term, times] of counts) {
      const number = numbers.get(term);
      if (number === undefined) continue;
      column.push(number);
      weight.push((1 + Math.log(times)) * (rarity[number] ?? 0));
    }
    starts[row + 1] = column.length;
  }
  const value = Float32Array.from(weight);
  for (let row = 0; row < counted.length; row++) normalise(value.subarray(starts[row], starts[row + 1]));
  const matrix: SparseRows = {
    rows: counted.length,
    columns: terms.length,
    starts,
    column: Uint32Array.from(column),
    value,
  };
  return { terms, rarity, matrix };
}

/** A word that occurs in one document only is in no company; of the others the common ones tell enough. */
function vocabularyOf(documents: readonly ReadonlyMap<string, number>[]) {
  const found = new Map<string, number>();
  for (const counts of documents)
    for (const term of counts.keys()) found.set(term, (found.get(term) ?? 0) + 1);
  const kept = [...found]
    .filter(([, count]) => count > 1)
    .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, MAX_WORDS);
  return {
    terms: kept.map(([term]) => term),
    rarity: Float32Array.from(kept, ([, count]) => Math.log(1 + documents.length / count)),
  };
}

/** The same numbers every time, so that the same code gives the same answers. */
function randomMatrix(rows: number, columns: number): Dense {
  const matrix = createDense(rows, columns);
  let state = SEED;
  for (let i = 0; i < matrix.values.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    matrix.values[i] = state / 2 ** 31;
  }
  return matrix;
}
