import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTermCutter } from "../text/terms.ts";
import { loadWordTable, MAX_TABLE_SIGNATURE_CHARS, MAX_TABLE_TEXT_CHARS } from "./word-table.ts";

const table = loadWordTable();
const cutTerms = createTermCutter();
/** Computed by a reference implementation in another language. */
const check = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../testing/vector/word-table-check.json"), "utf8"),
);

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

test("questions and functions get the vectors that the reference implementation computes", () => {
  const questions = check.queries.map((text: string) => table.placeQuestion(cutTerms(text)));
  const functions = check.functions.map(
    (one: { name: string; cls: string; path: string; sig: string; text: string }) =>
      table.placeChunk({
        name: cutTerms(one.name),
        container: cutTerms(one.cls),
        path: cutTerms(one.path.replace(/\.[a-z]+$/, "")),
        signature: cutTerms(one.sig.slice(0, MAX_TABLE_SIGNATURE_CHARS)),
        text: cutTerms(one.text.slice(0, MAX_TABLE_TEXT_CHARS)),
      }),
  );
  expect(check.cases).toHaveLength(20);
  for (const { query, function: at, cosine } of check.cases)
    expect(dot(questions[query], functions[at])).toBeCloseTo(cosine, 4);
});

test("unknown words have a zero vector", () => {
  expect(table.placeQuestion(["zzzqqx"]).every((value) => value === 0)).toBe(true);
});
