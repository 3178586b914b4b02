import type { PackedVector } from "./packed.ts";

/** Where vectors are kept and compared. Numbers are small and dense. */
export interface VectorStore {
  /** All vectors have the same length; another one forgets those before. */
  put(entries: readonly PlacedVector[]): void | Promise<void>;
  /** The same for many with neighbouring numbers. */
  putBlock(first: number, block: VectorBlock): void | Promise<void>;
  remove(ids: readonly number[]): void | Promise<void>;
  /** How near each one is to the given one, by its number: 1 is the same direction; what is far may be 0. */
  scores(vector: PackedVector): Float64Array | Promise<Float64Array>;
  close(): void | Promise<void>;
}

/** Packed vectors one after the other. */
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
