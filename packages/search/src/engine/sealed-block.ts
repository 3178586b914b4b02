import { type VectorBlock, vectorIn } from "../vector/vector-store.ts";
import type { OpenChunk } from "./block-store.ts";
import { decodeChunk, encodeChunk } from "./packed-chunk.ts";

/** Many chunks as parallel arrays. */
export interface SealedBlock extends VectorBlock {
  readonly ids: Uint32Array;
  readonly files: Uint32Array;
  readonly traits: Uint8Array;
  readonly copies: Uint32Array;
}

/** For each term, pairs of a chunk's offset and its weight. */
export type TermPostings = ReadonlyMap<string, Uint16Array>;

/** Builds a block and its postings from chunks in the order of their ids. */
export function sealChunks(chunks: readonly OpenChunk[]): { block: SealedBlock; postings: TermPostings } {
  const packed = chunks.map((chunk) => decodeChunk(chunk.packed));
  const dimensions = packed[0]?.vector.values.length ?? 0;
  const vectors = new Int8Array(chunks.length * dimensions);
  for (const [at, { vector }] of packed.entries()) vectors.set(vector.values, at * dimensions);
  const lists = new Map<string, number[]>();
  for (const [at, { terms }] of chunks.entries()) {
    const weights = packed[at]?.weights;
    for (const [n, term] of terms.split(" ").entries()) {
      const list = lists.get(term);
      if (list) list.push(at, weights?.[n] ?? 0);
      else lists.set(term, [at, weights?.[n] ?? 0]);
    }
  }
  return {
    block: {
      ids: Uint32Array.from(chunks, ({ id }) => id),
      files: Uint32Array.from(chunks, ({ file }) => file),
      traits: Uint8Array.from(chunks, ({ traits }) => traits),
      copies: Uint32Array.from(chunks, ({ copy }) => copy),
      scales: Float32Array.from(packed, ({ vector }) => vector.scale),
      vectors,
    },
    postings: new Map([...lists].map(([term, list]) => [term, Uint16Array.from(list)])),
  };
}

/** Restores the chunks of a block. */
export function unsealBlock(
  block: SealedBlock,
  postings: Iterable<{ readonly term: string; readonly entries: Uint16Array }>,
): OpenChunk[] {
  const terms = Array.from(block.ids, (): string[] => []);
  const weights = Array.from(block.ids, (): number[] => []);
  for (const { term, entries } of postings)
    for (let n = 0; n < entries.length; n += 2) {
      terms[entries[n] ?? 0]?.push(term);
      weights[entries[n] ?? 0]?.push(entries[n + 1] ?? 0);
    }
  return Array.from(block.ids, (id, at) => ({
    id,
    file: block.files[at] ?? 0,
    traits: block.traits[at] ?? 0,
    copy: block.copies[at] ?? 0,
    terms: terms[at]?.join(" ") ?? "",
    packed: encodeChunk({ vector: vectorIn(block, at), weights: Uint16Array.from(weights[at] ?? []) }),
  }));
}
