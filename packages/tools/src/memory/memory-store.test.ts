import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTermCutter, type Embedder } from "@octant/search";
import { expect, test } from "vitest";
import { type MemoryItem, openMemoryStore } from "./memory-store.ts";
import { createRecall } from "./recall.ts";

const cut = createTermCutter();
const recall = createRecall({ cut });
const { signal } = new AbortController();
const FIXTURES = join(import.meta.dirname, "../../../../test/fixtures/memory");

/** The number of questions in a fixture that find their item first. */
async function countFirst(file: string): Promise<{ readonly right: number; readonly all: number }> {
  const lines = readFileSync(join(FIXTURES, file), "utf8").trim().split("\n");
  const store = await openMemoryStore(cut);
  const pairs = lines.map((line, at) => {
    const [text = "", question = ""] = line.split(" | ");
    store.put(
      {
        memory_id: `mem_${at}`,
        scope: "project",
        kind: "note",
        text,
        tags: [],
        source: "test",
        confidence: 1,
        created_at: "",
        updated_at: "",
        links: [],
      },
      "test",
    );
    return question;
  });
  let right = 0;
  for (const [at, question] of pairs.entries()) {
    const [first] = await recall([store], question, { scopes: ["project"], owner: "test", limit: 1 }, signal);
    if (first?.memory_id === `mem_${at}`) right += 1;
  }
  store.close();
  return { right, all: pairs.length };
}

test("three of ten paraphrased questions of the dev set find their item first among 120", async () => {
  const { right, all } = await countFirst("dev.txt");
  expect(all).toBe(120);
  expect(right).toBeGreaterThanOrEqual(36);
});

test("two of five paraphrased questions find their item first among 200", async () => {
  const { right, all } = await countFirst("held-out.txt");
  expect(all).toBe(200);
  expect(right).toBeGreaterThanOrEqual(75);
});

// docs/decisions/0034-memory.md: the word table of search knows code, not general language.
test.fails("nine of ten paraphrased questions find their item first among 200", async () => {
  const { right, all } = await countFirst("held-out.txt");
  expect(right / all).toBeGreaterThanOrEqual(0.9);
});

test("a session memory is found only by its caller", async () => {
  const store = await openMemoryStore(cut);
  store.put(
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
    recall([store], "blue door", { scopes: ["session"], owner, limit: 5 }, signal);
  expect(await ask("one")).toHaveLength(1);
  expect(await ask("other")).toEqual([]);
  store.remove("mem_1", "one");
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
  const [few, many] = await Promise.all([openMemoryStore(cut), openMemoryStore(cut)]);
  few.put(note("mem_other", "the door of the office is blue"), "test");
  for (let at = 0; at < 20; at++) many.put(note(`mem_${at}`, `the office has room number ${at}`), "test");
  many.put(note("mem_right", "releases of the office tool are tagged by the pipeline"), "test");
  const filter = { scopes: ["project"], owner: "test", limit: 3 } as const;
  const found = await recall([few, many], "office releases tagged", filter, signal);
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
  const store = await openMemoryStore(cut);
  store.put(note("mem_1", "measures the wind"), "test");
  store.put(note("mem_2", "sends a letter"), "test");
  const filter = { scopes: ["project"], owner: "test", limit: 1 } as const;
  const firstFor = async (id: string) => {
    const [first] = await createRecall({ cut, embedder: model(id) })([store], "storm", filter, signal);
    return first?.memory_id;
  };
  expect(await firstFor("one")).toBe("mem_1");
  expect(await firstFor("one")).toBe("mem_1");
  expect(embedded).toEqual(["measures the wind", "sends a letter"]);
  store.put(note("mem_1", "measures the rain"), "test");
  store.put(note("mem_2", "sends a letter about the wind"), "test");
  expect(await firstFor("one")).toBe("mem_2");
  expect(await firstFor("two")).toBe("mem_2");
  expect(embedded).toHaveLength(6);
});
