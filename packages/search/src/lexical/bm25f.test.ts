import fc from "fast-check";
import { expect, test } from "vitest";
import { best } from "../ranking/best.ts";
import { createLexicalIndex, type FieldTerms } from "./bm25f.ts";

const document = (given: Partial<FieldTerms>): FieldTerms => ({
  name: [],
  container: [],
  path: [],
  signature: [],
  doc: [],
  body: [],
  ...given,
});

function indexOf(...documents: readonly Partial<FieldTerms>[]) {
  const index = createLexicalIndex();
  for (const [id, given] of documents.entries()) index.add(id, document(given));
  return index;
}

const ranked = (scores: Float64Array) => best(scores, 10).map(({ id }) => id);

test("a word in the name counts more than the same word in the body, many times", () => {
  const index = indexOf({ body: Array(5).fill("parse") }, { name: ["parse"] }, { body: ["other"] });
  expect(ranked(index.scores(["parse"]))).toEqual([1, 0]);
});

test("a rare word counts more than one that is everywhere", () => {
  const index = indexOf(
    { name: ["get", "token"] },
    { name: ["get"] },
    { name: ["get"] },
    { name: ["token"] },
  );
  expect(ranked(index.scores(["get", "token"]))[0]).toBe(0);
  expect(ranked(index.scores(["get", "token"]))[1]).toBe(3);
});

test("what was removed is found no more, and nothing else changes its order", () => {
  const index = indexOf({ name: ["a"] }, { name: ["a"] }, { name: ["a", "b"] });
  index.remove(0);
  expect(ranked(index.scores(["a"]))).toEqual([1, 2]);
});

test("unknown words find nothing", () => {
  expect(ranked(indexOf({ name: ["a"] }).scores(["zebra"]))).toEqual([]);
});

test("the best are what sorting all of them would give", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 12 }),
      (scores, limit) => {
        const sorted = scores
          .map((score, id) => ({ id, score }))
          .filter(({ score }) => score > 0)
          .sort((a, b) => b.score - a.score || a.id - b.id)
          .slice(0, limit);
        expect(best(Float64Array.from(scores), limit)).toEqual(sorted);
      },
    ),
  );
});
