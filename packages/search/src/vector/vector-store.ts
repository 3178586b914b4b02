import type { PackedVector } from "./packed.ts";

/** Where vectors are kept and compared. Numbers are small and dense. */
export interface VectorStore {
  /** All vectors have the same length; another one forgets those before. */
  put(entries: readonly PlacedVector[]): void | Promise<void>;
  remove(ids: readonly number[]): void | Promise<void>;
  /** How near each one is to the given one, by its number: 1 is the same direction; what is far may be 0. */
  scores(vector: PackedVector): Float64Array | Promise<Float64Array>;
  close(): void | Promise<void>;
}

export interface PlacedVector {
  readonly id: number;
  readonly vector: PackedVector;
}
