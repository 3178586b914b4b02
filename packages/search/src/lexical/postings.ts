/** Where a word occurs, and with what weight; grows as needed and holds nothing but numbers. */
export interface Postings {
  readonly length: number;
  add(id: number, weight: number): void;
  forEach(visit: (id: number, weight: number) => void): void;
}

/** Most words of a code base occur once or twice. */
const FIRST_CAPACITY = 2;

export function createPostings(): Postings {
  let ids = new Uint32Array(FIRST_CAPACITY);
  let weights = new Float32Array(FIRST_CAPACITY);
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(id, weight) {
      if (length === ids.length) {
        ids = grown(ids, new Uint32Array(length * 2));
        weights = grown(weights, new Float32Array(length * 2));
      }
      ids[length] = id;
      weights[length] = weight;
      length++;
    },
    forEach(visit) {
      for (let at = 0; at < length; at++) visit(ids[at] ?? 0, weights[at] ?? 0);
    },
  };
}

function grown<T extends Uint32Array | Float32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
