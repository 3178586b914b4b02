/** Documents by term, with weights: linked lists of numbers in three typed arrays. */
export interface Postings {
  add(term: string, document: number, weight: number): void;
  /** The number of documents that contain the term. */
  count(term: string): number;
  forEach(term: string, visit: (document: number, weight: number) => void): void;
}

const FIRST_CAPACITY = 1_024;
/** Doubling would waste up to half of the memory. */
const GROWTH = 1.4;
const NONE = -1;

export function createPostings(): Postings {
  const chains = new Map<string, { last: number; count: number }>();
  let documents = new Uint32Array(FIRST_CAPACITY);
  let weights = new Float32Array(FIRST_CAPACITY);
  let before = new Int32Array(FIRST_CAPACITY);
  let size = 0;

  const grow = () => {
    const capacity = Math.ceil(size * GROWTH);
    documents = grown(documents, new Uint32Array(capacity));
    weights = grown(weights, new Float32Array(capacity));
    before = grown(before, new Int32Array(capacity));
  };

  return {
    add(term, document, weight) {
      if (size === documents.length) grow();
      const chain = chains.get(term);
      documents[size] = document;
      weights[size] = weight;
      before[size] = chain?.last ?? NONE;
      if (chain) {
        chain.last = size;
        chain.count++;
      } else chains.set(term, { last: size, count: 1 });
      size++;
    },
    count: (term) => chains.get(term)?.count ?? 0,
    forEach(term, visit) {
      for (let at = chains.get(term)?.last ?? NONE; at !== NONE; at = before[at] ?? NONE)
        visit(documents[at] ?? 0, weights[at] ?? 0);
    },
  };
}

function grown<T extends Uint32Array | Float32Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
