import { type VectorStore, vectorIn } from "./vector-store.ts";

/** Vectors per new span of memory; spans are added, never copied into larger ones. */
const SPAN_VECTORS = 4_096;

/** An in-memory store that compares all vectors: 50,000 of 256 numbers in some 15 ms. */
export function createEmbeddedStore(): VectorStore {
  let dimensions = 0;
  let spans: Span[] = [];
  let size = 0;

  const restart = (length: number) => {
    dimensions = length;
    spans = [];
    size = 0;
  };
  const spanEnd = () => endOf(spans.at(-1));
  const spanOf = (id: number): Span => {
    while (spanEnd() <= id)
      spans.push({
        first: spanEnd(),
        values: new Int8Array(SPAN_VECTORS * dimensions),
        scales: new Float32Array(SPAN_VECTORS),
      });
    // The loop above has created it.
    return spans.findLast(({ first }) => first <= id) as Span;
  };
  const put: VectorStore["put"] = (entries) => {
    for (const { id, vector } of entries) {
      if (vector.values.length !== dimensions) restart(vector.values.length);
      const { first, values, scales } = spanOf(id);
      values.set(vector.values, (id - first) * dimensions);
      scales[id - first] = vector.scale;
      size = Math.max(size, id + 1);
    }
  };

  return {
    put,
    putBlock(first, block) {
      const { scales, vectors } = block;
      if (scales.length === 0) return;
      const length = vectors.length / scales.length;
      if (length !== dimensions) restart(length);
      if (first === spanEnd()) {
        spans.push({ first, values: vectors, scales });
        size = first + scales.length;
      } else put(Array.from(scales, (_, at) => ({ id: first + at, vector: vectorIn(block, at) })));
    },
    remove(ids) {
      for (const id of ids) {
        if (id >= size) continue;
        const { first, scales } = spanOf(id);
        scales[id - first] = 0;
      }
    },
    scores({ values: wanted, scale }) {
      const scores = new Float64Array(size);
      if (wanted.length !== dimensions) return scores;
      for (const { first, values, scales } of spans) {
        const count = Math.min(scales.length, size - first);
        for (let at = 0; at < count; at++) {
          const own = scales[at] ?? 0;
          if (own > 0) scores[first + at] = scale * own * dotAt(values, at * dimensions, wanted);
        }
      }
      return scores;
    },
    close: () => restart(0),
  };
}

/** Vectors with consecutive ids. */
interface Span {
  readonly first: number;
  readonly values: Int8Array;
  /** 0 for empty slots. */
  readonly scales: Float32Array;
}

const endOf = (span: Span | undefined): number => (span ? span.first + span.scales.length : 0);

/** Integer arithmetic is twice as fast, and four sums are once more: they do not wait for each other. */
function dotAt(block: Int8Array, start: number, values: Int8Array): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  // Past the end of a length that is not a multiple of four, `values` has nothing, which counts as 0.
  for (let i = 0; i < values.length; i += 4) {
    const at = start + i;
    a = (a + Math.imul(block[at] ?? 0, values[i] ?? 0)) | 0;
    b = (b + Math.imul(block[at + 1] ?? 0, values[i + 1] ?? 0)) | 0;
    c = (c + Math.imul(block[at + 2] ?? 0, values[i + 2] ?? 0)) | 0;
    d = (d + Math.imul(block[at + 3] ?? 0, values[i + 3] ?? 0)) | 0;
  }
  return (a + b + c + d) | 0;
}
