import { expect, test } from "vitest";
import { type FieldTerms, weighTerms } from "../lexical/weigh-terms.ts";
import { createEmbeddedStore } from "../vector/embedded-store.ts";
import { packVector } from "../vector/vector-store.ts";
import { type OpenChunk, sealChunks, unsealBlock } from "./block-store.ts";
import { createChunkRanker, type RankQuestion } from "./chunk-ranker.ts";
import { encodeChunk } from "./packed-chunk.ts";
import { traitFactors } from "./traits.ts";

const chunkOf = (id: number, given: Partial<FieldTerms>): OpenChunk => {
  const fields = { name: [], container: [], path: [], signature: [], doc: [], body: [], ...given };
  const { terms, weights } = weighTerms(fields);
  const vector = packVector(Float32Array.of(Math.cos(id), Math.sin(id)));
  return {
    id,
    file: id % 3,
    traits: 0,
    terms: terms.join(" "),
    packed: encodeChunk({ vector, weights }),
  };
};

async function rankerOf(open: readonly OpenChunk[], sealed: readonly OpenChunk[] = []) {
  const { block, postings } = sealChunks(sealed);
  const byTerm = new Map(postings);
  const ranker = createChunkRanker({
    vectors: createEmbeddedStore(),
    isPlacedByTable: true,
    sealed: (term) => {
      const entries = byTerm.get(term);
      return entries ? [{ block: 1, entries }] : [];
    },
  });
  await ranker.addBlock({ ...block, number: 1 });
  await ranker.add(open);
  return ranker;
}

const ask = (...terms: string[]): RankQuestion => ({
  terms: terms.map((term) => ({ term, weight: 1 })),
  vector: undefined,
  strategies: ["text"],
  limit: 10,
  traitFactors: traitFactors(""),
});
const ids = (ranked: readonly { id: number }[]) => ranked.map(({ id }) => id);

test("a word in the name outweighs many repetitions of it in the body", async () => {
  const ranker = await rankerOf([
    chunkOf(1, { body: [...Array(3).fill("parse"), ...Array(60).fill("other")] }),
    chunkOf(2, { name: ["parse"] }),
    chunkOf(3, { body: ["other"] }),
  ]);
  expect(ids(await ranker.rank(ask("parse")))).toEqual([2, 1]);
});

test("a rare word outweighs a common one", async () => {
  const ranker = await rankerOf([
    chunkOf(1, { name: ["get", "token"] }),
    chunkOf(2, { name: ["get"] }),
    chunkOf(3, { name: ["get"] }),
    chunkOf(4, { name: ["token"] }),
  ]);
  expect(ids(await ranker.rank(ask("get", "token"))).slice(0, 2)).toEqual([1, 4]);
});

test("chunks rank the same whether sealed, open, or sealed and reopened", async () => {
  const chunks = Array.from({ length: 40 }, (_, n) =>
    chunkOf(n + 1, { name: [`w${n % 5}`, `w${n % 7}`], body: [`w${n % 3}`, `w${n % 11}`] }),
  );
  const question: RankQuestion = {
    ...ask("w1", "w2", "w9"),
    vector: packVector(Float32Array.of(1, 0.2)),
    strategies: ["text", "vector"],
  };
  const { block, postings } = sealChunks(chunks);
  const molten = unsealBlock(block, postings);
  const open = await (await rankerOf(chunks)).rank(question);
  expect(open.length).toBeGreaterThan(5);
  expect(await (await rankerOf([], chunks)).rank(question)).toEqual(open);
  expect(await (await rankerOf(chunks.slice(25), chunks.slice(0, 25))).rank(question)).toEqual(open);
  expect(await (await rankerOf(molten)).rank(question)).toEqual(open);
});

test("a removed chunk is no longer found, sealed or open", async () => {
  const ranker = await rankerOf(
    [chunkOf(3, { name: ["a"] })],
    [chunkOf(1, { name: ["a"] }), chunkOf(2, { name: ["a"] })],
  );
  await ranker.remove([1, 3, 77]);
  expect(ids(await ranker.rank(ask("a")))).toEqual([2]);
  expect(ids(await ranker.rank({ ...ask("a"), files: new Set([0]) }))).toEqual([]);
});

test("removing chunks does not change the scores of the others", async () => {
  const chunks = Array.from({ length: 30 }, (_, n) =>
    chunkOf(n + 1, { name: [`w${n % 5}`], body: [`w${n % 7}`] }),
  );
  const gone = chunks.map((chunk) => ({ ...chunk, id: chunk.id + 100 }));
  const question: RankQuestion = {
    ...ask("w1", "w3"),
    vector: packVector(Float32Array.of(1, 0.2)),
    strategies: ["text", "vector"],
  };
  const ranker = await rankerOf(gone.slice(15), [...chunks, ...gone.slice(0, 15)]);
  await ranker.remove(gone.map(({ id }) => id));
  const scores = (ranked: readonly { id: number; score: number }[]) =>
    ranked.map(({ id, score }) => `${id} ${score.toFixed(9)}`);
  expect(scores(await ranker.rank(question))).toEqual(scores(await (await rankerOf(chunks)).rank(question)));
});
