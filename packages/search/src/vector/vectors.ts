/** Vectors by number, in one block of memory. */
export interface Vectors {
  put(id: number, vector: Float32Array): void;
  remove(id: number): void;
  /** How near each one is to the given one, by its number. */
  scores(vector: Float32Array): Float64Array;
  /** Forgets all of them, and how long they were. */
  clear(dimensions: number): void;
}

const FIRST_CAPACITY = 1_024;

export function createVectors(): Vectors {
  let dimensions = 0;
  let block = new Float32Array(0);
  let size = 0;
  return {
    put(id, vector) {
      const needed = (id + 1) * dimensions;
      if (needed > block.length) {
        const larger = new Float32Array(Math.max(needed, block.length * 2, FIRST_CAPACITY * dimensions));
        larger.set(block);
        block = larger;
      }
      block.set(vector, id * dimensions);
      size = Math.max(size, id + 1);
    },
    remove(id) {
      block.fill(0, id * dimensions, (id + 1) * dimensions);
    },
    scores(vector) {
      const scores = new Float64Array(size);
      for (let id = 0; id < size; id++) {
        let sum = 0;
        const start = id * dimensions;
        for (let i = 0; i < dimensions; i++) sum += (block[start + i] ?? 0) * (vector[i] ?? 0);
        scores[id] = sum;
      }
      return scores;
    },
    clear(length) {
      dimensions = length;
      block = new Float32Array(0);
      size = 0;
    },
  };
}
