/** A quantised vector: an error of at most half a per cent, in a quarter of the memory. */
export interface PackedVector {
  readonly values: Int8Array;
  /** The factor for each value. */
  readonly scale: number;
}

const MAX_VALUE = 127;

export function packVector(vector: Float32Array): PackedVector {
  let largest = 0;
  for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i] ?? 0));
  const values = new Int8Array(vector.length);
  const scale = largest / MAX_VALUE;
  if (scale > 0) for (let i = 0; i < vector.length; i++) values[i] = Math.round((vector[i] ?? 0) / scale);
  return { values, scale };
}

export function unpackVector({ values, scale }: PackedVector): Float32Array {
  const vector = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) vector[i] = (values[i] ?? 0) * scale;
  return vector;
}

/** Scales the vector to length one, in place; a zero vector is unchanged. */
export function normalise(vector: Float32Array): Float32Array {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) squares += (vector[i] ?? 0) ** 2;
  const length = Math.sqrt(squares);
  if (length > 0) for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) / length;
  return vector;
}

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
