import { expect, test } from "vitest";
import type { RankedHit } from "../engine/code-index.ts";
import { createTermCutter } from "../text/terms.ts";
import { arrange } from "./arrange.ts";

const at = { start: { line: 0, col: 0 }, end: { line: 1, col: 0 } };
const hit = (id: number, name: string, textRank: number, file = `${id}.ts`): RankedHit => {
  const place = { id, file, hash: "", firstLine: 0, endLine: 1 };
  const symbol = { file, hash: "", name, path: name, kind: "function", signature: "", doc: null } as const;
  const why = [{ strategy: "text", rank: textRank }] as const;
  return { ...place, symbol: { ...symbol, range: at, nameRange: at }, score: 100 - id, why };
};
const arranged = (question: string, hits: readonly RankedHit[]) =>
  arrange(hits, question, createTermCutter()).map(({ id }) => id);

test("the best hit by words is second at most when the question has all words of its name", () => {
  const hits = [hit(1, "a", 9), hit(2, "b", 8), hit(3, "c", 7), hit(4, "writeJsonLine", 1)];
  expect(arranged("write matches as lines of json", hits)).toEqual([1, 4, 2, 3]);
  expect(arranged("write matches as lines of text", hits)).toEqual([1, 2, 3, 4]);
});

test("one word of a question names nothing, nor does a lower hit by words", () => {
  const others = [hit(1, "a", 9), hit(2, "b", 8)];
  expect(arranged("write json", [...others, hit(3, "write", 1)])).toEqual([1, 2, 3]);
  expect(arranged("write json", [...others, hit(3, "writeJson", 2)])).toEqual([1, 2, 3]);
});

test("the third overload comes after all other hits; methods of other files are not overloads", () => {
  const overloads = [1, 2, 3, 4].map((id) => hit(id, "random", id + 1, "a.java"));
  const list = [...overloads, hit(5, "other", 9, "a.java"), hit(6, "random", 10, "b.java")];
  expect(arranged("a number by chance", list)).toEqual([1, 2, 5, 6, 3, 4]);
});

test("the scores stay in descending order", () => {
  const hits = [hit(1, "a", 9), hit(2, "b", 8), hit(3, "writeJson", 1)];
  expect(arrange(hits, "write json", createTermCutter()).map(({ score }) => score)).toEqual([99, 98, 97]);
});
