import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_JSON_DEPTH, parseJson } from "./messages.ts";

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

test("the deepest nesting allowed is parsed and one level more is refused", () => {
  expect(parseJson(nested(MAX_JSON_DEPTH))).toEqual(JSON.parse(nested(MAX_JSON_DEPTH)));
  expect(() => parseJson(nested(MAX_JSON_DEPTH + 1))).toThrow(SyntaxError);
});

test("ten million brackets are refused at once", () => {
  expect(() => parseJson("[".repeat(10_000_000))).toThrow(SyntaxError);
});

test("brackets in strings do not count, whatever is escaped around them", () => {
  const brackets = "[".repeat(MAX_JSON_DEPTH * 2);
  for (const text of [brackets, `\\${brackets}`, `"${brackets}`, `\\"${brackets}\\`, `${brackets}\\\\`]) {
    expect(parseJson(JSON.stringify({ [text]: text }))).toEqual({ [text]: text });
  }
});

test("shallow text parses like JSON.parse", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("text that is not JSON is a SyntaxError", () => {
  for (const text of ["", "{", '"', '"\\', "]]]", "nul"]) expect(() => parseJson(text)).toThrow(SyntaxError);
});
