import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTermCutter, type Embedder } from "@octant/search";
import { expect, test } from "vitest";
import { createMemoryIndex, type MemoryItem } from "./memory-store.ts";
import { createRecall } from "./recall.ts";
import { openMemoryStore } from "./sqlite-memory-store.ts";

const cut = createTermCutter();
const recall = createRecall({ cut });
const index = createMemoryIndex(cut);
const { signal } = new AbortController();
const FIXTURES = join(import.meta.dirname, "../../../../test/fixtures/memory");

const linesOf = (file: string) => readFileSync(join(FIXTURES, file), "utf8").trim().split("\n");

interface Asked {
  readonly query: string;
  readonly also?: readonly string[];
}

/** The number of questions, from one on, that find their item first among all items of a fixture. */
async function countFirst(file: string, toAsked: (query: string, at: number) => Asked, from = 0) {
  const store = await openMemoryStore(index);
  const pairs = await Promise.all(
    linesOf(file).map(async (line, at) => {
      const [text = "", question = ""] = line.split(" | ");
      await store.put(note(`mem_${at}`, text), "test");
      return question;
    }),
  );
  let right = 0;
  for (const [at, question] of [...pairs.entries()].slice(from)) {
    const filter = { scopes: ["project"], owner: "test", limit: 1 } as const;
    const [first] = await recall([store], toAsked(question, at), filter, signal);
    if (first?.memory_id === `mem_${at}`) right += 1;
  }
  store.close();
  return { right, all: pairs.length - from };
}

test("three of ten paraphrased questions of the dev set find their item first among 120", async () => {
  const { right, all } = await countFirst("dev.txt", (query) => ({ query }));
  expect(all).toBe(120);
  expect(right).toBeGreaterThanOrEqual(36);
});

test("two of five paraphrased questions find their item first among 200", async () => {
  const { right, all } = await countFirst("held-out.txt", (query) => ({ query }));
  expect(all).toBe(200);
  expect(right).toBeGreaterThanOrEqual(75);
});

/** Written by a language model from each question alone. The weights were chosen with the first hundred. */
const WORDINGS = linesOf("held-out-wordings.txt").map((line) => line.split("; "));
const SET_ASIDE = 100;

test("with the caller's wordings, nine of ten questions set aside find their item first among 200", async () => {
  const { right, all } = await countFirst(
    "held-out.txt",
    (query, at) => ({ query, also: WORDINGS[at] ?? [] }),
    SET_ASIDE,
  );
  expect(right / all).toBeGreaterThanOrEqual(0.9);
});

test("with the wordings of another question, half of the answers stay first", async () => {
  const alone = await countFirst("held-out.txt", (query) => ({ query }), SET_ASIDE);
  const misled = await countFirst(
    "held-out.txt",
    (query, at) => ({ query, also: WORDINGS[(at + 37) % WORDINGS.length] ?? [] }),
    SET_ASIDE,
  );
  expect(misled.right).toBeGreaterThanOrEqual(alone.right / 2);
});

test("a memory is found by the terms that it was given", async () => {
  const store = await openMemoryStore(index);
  await store.put({ ...note("mem_1", "argon2id for passwords"), terms: ["hashing", "login"] }, "test");
  await store.put(note("mem_2", "the door is blue"), "test");
  const filter = { scopes: ["project"], owner: "test", limit: 1 } as const;
  const [first] = await recall([store], { query: "hashing of logins" }, filter, signal);
  expect(first?.memory_id).toBe("mem_1");
  store.close();
});

test("a session memory is found only by its caller", async () => {
  const store = await openMemoryStore(index);
  await store.put(
    {
      memory_id: "mem_1",
      scope: "session",
      kind: "note",
      text: "the door is blue",
      tags: [],
      source: "",
      confidence: 1,
      created_at: "",
      updated_at: "",
      links: [],
    },
    "one",
  );
  const ask = (owner: string) =>
    recall([store], { query: "blue door" }, { scopes: ["session"], owner, limit: 5 }, signal);
  expect(await ask("one")).toHaveLength(1);
  expect(await ask("other")).toEqual([]);
  await store.remove("mem_1", "one");
  expect(await ask("one")).toEqual([]);
  store.close();
});

const note = (memory_id: string, text: string): MemoryItem => ({
  memory_id,
  scope: "project",
  kind: "note",
  text,
  tags: [],
  source: "",
  confidence: 1,
  created_at: "",
  updated_at: "",
  links: [],
});

test("memories of several stores are ranked together", async () => {
  const [few, many] = await Promise.all([openMemoryStore(index), openMemoryStore(index)]);
  await few.put(note("mem_other", "the door of the office is blue"), "test");
  for (let at = 0; at < 20; at++)
    await many.put(note(`mem_${at}`, `the office has room number ${at}`), "test");
  await many.put(note("mem_right", "releases of the office tool are tagged by the pipeline"), "test");
  const filter = { scopes: ["project"], owner: "test", limit: 3 } as const;
  const found = await recall([few, many], { query: "office releases tagged" }, filter, signal);
  expect(found[0]?.memory_id).toBe("mem_right");
});

test("an embedding model is asked once for each text, and again after a change of the text or of the model", async () => {
  const embedded: string[] = [];
  const model = (id: string): Embedder => ({
    id,
    async embed(texts, role) {
      if (role === "passage") embedded.push(...texts);
      return texts.map((text) => Float32Array.from(/storm|wind/.test(text) ? [1, 0] : [0, 1]));
    },
    close: async () => {},
  });
  const store = await openMemoryStore(index);
  await store.put(note("mem_1", "measures the wind"), "test");
  await store.put(note("mem_2", "sends a letter"), "test");
  const filter = { scopes: ["project"], owner: "test", limit: 1 } as const;
  const firstFor = async (id: string) => {
    const [first] = await createRecall({ cut, embedder: model(id) })(
      [store],
      { query: "storm" },
      filter,
      signal,
    );
    return first?.memory_id;
  };
  expect(await firstFor("one")).toBe("mem_1");
  expect(await firstFor("one")).toBe("mem_1");
  expect(embedded).toEqual(["measures the wind", "sends a letter"]);
  await store.put(note("mem_1", "measures the rain"), "test");
  await store.put(note("mem_2", "sends a letter about the wind"), "test");
  expect(await firstFor("one")).toBe("mem_2");
  expect(await firstFor("two")).toBe("mem_2");
  expect(embedded).toHaveLength(6);
});
