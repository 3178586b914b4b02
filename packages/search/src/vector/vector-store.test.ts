import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test as everyTest, expect, inject } from "vitest";
import { createEmbeddedStore } from "./embedded-store.ts";
import { openLanceStore } from "./lance-store.ts";
import type { VectorStore } from "./vector-store.ts";
import { type PackedVector, packVector } from "./vector-store.ts";

const STORES = [
  { name: "embedded", open: async (_folder: string) => createEmbeddedStore(), needs: "" },
  { name: "LanceDB", open: openLanceStore, needs: "@lancedb/lancedb" },
];

/** The same tests for every store. */
describe.for(STORES)("$name", ({ open, needs }) => {
  const test = everyTest.skipIf(inject("missing").includes(needs));
  let folder: string;
  let store: VectorStore;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "octant-vectors-"));
    store = await open(folder);
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const vector = (...values: number[]) => packVector(Float32Array.from(values));
  const order = async (asked: PackedVector) => {
    const scores = await store.scores(asked);
    return [...scores.keys()]
      .filter((id) => (scores[id] ?? 0) > 0.01)
      .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  };

  test("the nearest vectors have the highest scores, up to one", async () => {
    await store.put([
      { id: 0, vector: vector(1, 0, 0) },
      { id: 2, vector: vector(0.6, 0.8, 0) },
      { id: 1, vector: vector(0, 0, 1) },
    ]);
    expect(await order(vector(1, 0, 0))).toEqual([0, 2]);
    const scores = await store.scores(vector(1, 0, 0));
    expect(scores[0]).toBeCloseTo(1, 2);
    expect(scores[2]).toBeCloseTo(0.6, 2);
  });

  test("putting a vector again replaces it, and a removed one is no longer found", async () => {
    await store.put([
      { id: 0, vector: vector(1, 0) },
      { id: 1, vector: vector(0.9, 0.1) },
    ]);
    await store.put([{ id: 0, vector: vector(0, 1) }]);
    expect(await order(vector(1, 0))).toEqual([1]);
    await store.remove([1, 77]);
    expect(await order(vector(1, 0))).toEqual([]);
  });

  test("vectors of another length belong to another model and replace all existing ones", async () => {
    await store.put([{ id: 0, vector: vector(1, 0) }]);
    await store.put([{ id: 1, vector: vector(1, 0, 0) }]);
    expect(await order(vector(1, 0, 0))).toEqual([1]);
    expect(await order(vector(1, 0))).toEqual([]);
  });

  test("a block of vectors equals the same vectors put one by one, wherever it starts", async () => {
    const vectors = Array.from({ length: 5_000 }, (_, at) => vector(Math.cos(at), Math.sin(at)));
    const block = {
      scales: Float32Array.from(vectors, ({ scale }) => scale),
      vectors: Int8Array.from(vectors.flatMap(({ values }) => [...values])),
    };
    await store.putBlock(0, { scales: new Float32Array(0), vectors: new Int8Array(0) });
    await store.putBlock(700, block);
    const scores = await store.scores(vector(1, 0));
    for (const at of [0, 1, 3_395, 3_396, 4_999]) {
      const near = await store.scores(vectors[at] ?? vector(0));
      expect(near[700 + at]).toBeCloseTo(1, 2);
    }
    expect(scores).toHaveLength(5_700);
    expect(scores[699]).toBe(0);
  });

  test("an empty store accepts empty puts and removals", async () => {
    await store.put([]);
    await store.remove([]);
    expect(await order(vector(1, 0))).toEqual([]);
  });

  test("many vectors keep their ids", async () => {
    const many = Array.from({ length: 3_000 }, (_, id) => ({
      id,
      vector: vector(Math.cos(id / 3_000), Math.sin(id / 3_000)),
    }));
    await store.put(many);
    expect((await order(vector(1, 0))).slice(0, 1)).toEqual([0]);
  });
});
