import { toMemberId, toOwnerId } from "@octant/core";
import { createTermCutter } from "@octant/search";
import { describe, expect, test } from "vitest";
import {
  createMemoryIndex,
  type MemoryIndex,
  type MemoryItem,
  type MemoryStore,
  SCOPES,
} from "../../src/memory/memory-store.ts";

/** `connect` opens the same stored memories once more, as another process would. */
export interface StoredMemories extends AsyncDisposable {
  connect(index: MemoryIndex): Promise<MemoryStore>;
}

const index = createMemoryIndex(createTermCutter());
const ME = "ses_me";
const OTHER = "ses_other";
const ADA = toMemberId(toOwnerId("a".repeat(32)), "ses_1");
const BOB = toMemberId(toOwnerId("b".repeat(32)), "ses_2");
const ALL = { scopes: SCOPES, limit: 10 };

const note = (at: number, text: string, more: Partial<MemoryItem> = {}): MemoryItem => ({
  memory_id: `mem_${at}`,
  scope: "project",
  kind: "note",
  text,
  tags: [],
  source: "test",
  confidence: 1,
  created_at: `2026-01-0${at}`,
  updated_at: `2026-01-0${at}`,
  links: [{ uri: "file:///a.ts", hash: null }],
  ...more,
});

/** What every adapter of MemoryStore promises. `setUp` starts without memories. */
export function describeMemoryStore(name: string, setUp: () => StoredMemories): void {
  describe(`the memory store ${name}`, () => {
    const idsOf = (items: readonly MemoryItem[]) => items.map(({ memory_id }) => memory_id);

    test("reads a memory back, also in another process, and replaces and removes it", async () => {
      await using place = setUp();
      const [mine, theirs] = [await place.connect(index), await place.connect(index)];
      await mine.put(note(1, "the door is blue"), ME);
      expect(await theirs.get("mem_1", ME)).toEqual(note(1, "the door is blue"));
      await theirs.put(note(1, "the door is green", { kind: "fact" }), ME);
      expect(await mine.get("mem_1", ME)).toMatchObject({ text: "the door is green", kind: "fact" });
      expect(await mine.list({ ...ALL, owner: ME })).toHaveLength(1);
      expect(await mine.remove("mem_1", ME)).toBe(true);
      expect(await theirs.remove("mem_1", ME)).toBe(false);
      expect(await theirs.get("mem_1", ME)).toBeUndefined();
      for (const store of [mine, theirs]) store.close();
    });

    test("lists the newest first, by scope and kind, up to the limit", async () => {
      await using place = setUp();
      const store = await place.connect(index);
      await store.put(note(1, "one"), ME);
      await store.put(note(3, "three", { kind: "fact" }), ME);
      await store.put(note(2, "two", { scope: "global" }), ME);
      const list = async (filter: object) => idsOf(await store.list({ ...ALL, owner: ME, ...filter }));
      expect(await list({})).toEqual(["mem_3", "mem_2", "mem_1"]);
      expect(await list({ limit: 2 })).toEqual(["mem_3", "mem_2"]);
      expect(await list({ scopes: ["project"] })).toEqual(["mem_3", "mem_1"]);
      expect(await list({ kind: "fact" })).toEqual(["mem_3"]);
      store.close();
    });

    test("shows session memories to their caller only, and others to the callers of the same owner", async () => {
      await using place = setUp();
      const store = await place.connect(index);
      await store.put(note(1, "of my session: blue", { scope: "session" }), ME);
      await store.put(note(2, "of the person: blue"), ME);
      await store.put(note(3, "of an owner: blue"), ADA);
      const seenBy = async (owner: string) => {
        const { rows } = await store.match(index("blue").terms, { scopes: SCOPES, owner });
        const placed = await store.placed({ scopes: SCOPES, owner });
        const listed = idsOf(await store.list({ ...ALL, owner })).sort();
        const read = async (ids: readonly { id: number }[]) =>
          (await Promise.all(ids.map(({ id }) => store.read(id)))).map((item) => item?.memory_id).sort();
        expect(await read(rows)).toEqual(listed);
        expect(await read(placed)).toEqual(listed);
        return listed;
      };
      expect(await seenBy(ME)).toEqual(["mem_1", "mem_2"]);
      expect(await seenBy(OTHER)).toEqual(["mem_2"]);
      expect(await seenBy(ADA)).toEqual(["mem_3"]);
      expect(await seenBy(BOB)).toEqual([]);
      expect(await store.get("mem_2", BOB)).toBeUndefined();
      expect(await store.remove("mem_2", BOB)).toBe(false);
      store.close();
    });

    test("matches terms of text, tags and given terms, and counts who has each", async () => {
      await using place = setUp();
      const store = await place.connect(index);
      await store.put(note(1, "releases are tagged", { terms: ["pipeline"] }), ME);
      await store.put(note(2, "a pipeline runs", { tags: ["nightly"] }), ME);
      const [pipeline = "", nightly = ""] = ["pipeline", "nightly"].flatMap((text) => index(text).terms);
      const found = await store.match([pipeline, nightly, "unheardof"], { scopes: SCOPES, owner: ME });
      expect(found.holders).toEqual([2, 1, 0]);
      expect(found.rows).toHaveLength(2);
      for (const { terms } of found.rows) expect(terms).toContain(pipeline);
      store.close();
    });

    test("has the vector of the word table at once, and those of a model until the memory changes", async () => {
      await using place = setUp();
      const store = await place.connect(index);
      await store.put(note(1, "one"), ME);
      await store.put(note(2, "two"), ME);
      const filter = { scopes: SCOPES, owner: ME };
      const byTable = await store.placed(filter);
      expect(byTable.map(({ vector }) => [...vector])).toContainEqual([...index("one").vector]);
      expect(await store.placed(filter, "model")).toEqual([]);
      const waiting = await store.unplaced("model", 10);
      expect(waiting.map(({ text }) => text).sort()).toEqual(["one", "two"]);
      expect(await store.unplaced("model", 1)).toHaveLength(1);
      const vectors = waiting.map(({ id }) => ({ id, vector: Float32Array.from([id, 0.5]) }));
      await store.place("model", vectors);
      expect(await store.unplaced("model", 10)).toEqual([]);
      const placed = await store.placed(filter, "model");
      expect(placed.map(({ id, vector }) => [id, ...vector]).sort()).toEqual(
        vectors.map(({ id, vector }) => [id, ...vector]).sort(),
      );
      await store.put(note(1, "another one"), ME);
      expect((await store.unplaced("model", 10)).map(({ text }) => text)).toEqual(["another one"]);
      expect(await store.placed(filter, "model")).toHaveLength(1);
      store.close();
    });
  });
}
