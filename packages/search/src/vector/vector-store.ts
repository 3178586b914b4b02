import type { PackedVector } from "./packed.ts";

/** Stores and compares vectors. Ids are small and dense. */
export interface VectorStore {
  /** All vectors have the same length; one of another length discards the previous ones. */
  put(entries: readonly PlacedVector[]): void | Promise<void>;
  /** The same for many vectors with consecutive ids; the store takes over the arrays. */
  putBlock(first: number, block: VectorBlock): void | Promise<void>;
  remove(ids: readonly number[]): void | Promise<void>;
  /**
   * The similarity of each vector to the given one, by id: 1 means the same direction; distant ones may be 0.
   */
  scores(vector: PackedVector): Float64Array | Promise<Float64Array>;
  close(): void | Promise<void>;
}

/** Packed vectors in a row. */
export interface VectorBlock {
  readonly scales: Float32Array;
  readonly vectors: Int8Array;
}

export function vectorIn({ scales, vectors }: VectorBlock, at: number): PackedVector {
  const dimensions = vectors.length / scales.length;
  return { values: vectors.subarray(at * dimensions, (at + 1) * dimensions), scale: scales[at] ?? 0 };
}

export interface PlacedVector {
  readonly id: number;
  readonly vector: PackedVector;
}
