import { expect, test } from "vitest";
import { createTermCutter } from "./terms.ts";

test.each([
  ["parseHTTPHeader", ["pars", "http", "header"]],
  ["max_retry_count", ["max", "retri", "count"]],
  ["SOME-Name.of.things", ["some", "name", "of", "thing"]],
  ["Parses the header's fields", ["pars", "the", "header", "field"]],
  ["größeÄndern x1 v22", ["größe", "ändern", "22"]],
  ["", []],
])("%j is cut into %j", (text, terms) => {
  expect(createTermCutter()(text)).toEqual(terms);
});

test("a word without end is not a word", () => {
  expect(createTermCutter()("a".repeat(100_000))).toEqual([]);
});
