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
  const numbers = new Map<string, number>();
  const found: number[] = [];
  const counted = documents.map((document) => {
    const counts = countTerms(document);
    for (const term of counts.keys()) {
      const number = numbers.get(term) ?? numbers.size;
      numbers.set(term, number);
      found[number] = (found[number] ?? 0) + 1;
    }
    return counts;
  });
  const rarity = Float32Array.from(found, (count) => Math.log(1 + documents.length / count));
  const entries = counted.reduce((sum, counts) => sum + counts.size, 0);
  const starts = new Uint32Array(documents.length + 1);
  const column = new Uint32Array(entries);
  const value = new Float32Array(entries);
  let at = 0;
  for (const [row, counts] of counted.entries()) {
    const start = at;
    for (const [term, times] of counts) {
      const number = numbers.get(term) ?? 0;
      column[at] = number;
      value[at] = (1 + Math.log(times)) * (rarity[number] ?? 0);
      at++;
    }
    normalise(value.subarray(start, at));
    starts[row + 1] = at;
  }
  const matrix: SparseRows = { rows: documents.length, columns: numbers.size, starts, column, value };
  return { terms: [...numbers.keys()], rarity, matrix };
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
