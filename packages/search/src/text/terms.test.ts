import fc from "fast-check";
import { expect, test } from "vitest";
import { createTermCutter } from "./terms.ts";

test.each([
  ["parseHTTPHeader", ["pars", "http", "head"]],
  ["max_retry_count", ["max", "retry", "count"]],
  ["SOME-Name.of.things", ["some", "name", "of", "thing"]],
  ["Parses the header's fields", ["pars", "the", "head", "field"]],
  ["größeÄndern x1 v22", ["größ", "ändern", "22"]],
  ["", []],
])("%j is cut into %j", (text, terms) => {
  expect(createTermCutter()(text)).toEqual(terms);
});

test("an overlong word is skipped", () => {
  expect(createTermCutter()("a".repeat(100_000))).toEqual([]);
});

test("a letter beyond ASCII changes nothing about the words around it", () => {
  const cutTerms = createTermCutter();
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."abzABZ09_$ .-"), maxLength: 30 }), (text) => {
      // A single letter is not a word itself.
      expect(cutTerms(text)).toEqual(cutTerms(`${text} é`));
    }),
  );
});
