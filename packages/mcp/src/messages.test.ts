import fc from "fast-check";
import { expect, test } from "vitest";
import { idAtEdges, MAX_JSON_DEPTH, parseJson } from "./messages.ts";

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

const LONG = "x".repeat(5_000);

test.each([
  [{ jsonrpc: "2.0", id: 7, method: "tools/call", params: { text: LONG } }, 7],
  [{ id: "", method: "tools/call" }, ""],
  [{ method: "tools/call", params: { id: 1, text: `"id":2,{[${LONG}` }, jsonrpc: "2.0", id: 'a"b' }, 'a"b'],
  [{ params: [{ id: 1 }], id: 3 }, 3],
  [{ method: LONG, id: 0 }, 0],
  [{ method: "x", params: { id: 9 } }, null],
  [{ method: "x", text: ',"id":9}' }, null],
  [{ id: { a: 1 } }, null],
  [{ method: "x", id: 1.5 }, null],
  [[{ id: 1 }], null],
])("the id of %# is found at the start or the end of its message, and no other", (message, id) => {
  for (const indent of [0, 1]) expect(idAtEdges(JSON.stringify(message, null, indent))).toBe(id);
});
