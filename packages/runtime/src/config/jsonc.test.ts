import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineIndex, JsoncError, parseJsonc } from "./jsonc.ts";

const parse = (text: string): unknown => parseJsonc(text).value;
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("every JSON text parses like JSON.parse, with comments anywhere between", () => {
  fc.assert(
    fc.property(
      fc.json({ maxDepth: 5 }),
      fc.constantFrom("", " ", "\n", "// x, }\r\n", "/* ] \n */"),
      (text, trivia) => {
        const spaced = text.replace(
          /("(?:[^"\\]|\\.)*")|[,:{}[\]]/g,
          (token) => `${trivia}${token}${trivia}`,
        );
        expect(plain(parse(spaced))).toEqual(JSON.parse(text));
      },
    ),
  );
});

test("text that JSON.parse rejects is rejected, except for comments and a trailing comma", () => {
  fc.assert(
    fc.property(
      fc.json({ maxDepth: 3 }),
      fc.nat(),
      fc.constantFrom("", '"', "}", "]", ":", "x", "\\", "\u0001"),
      (json, at, put) => {
        const offset = at % (json.length + 1);
        const text = json.slice(0, offset) + put + json.slice(offset + 1);
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          if (!/[,]\s*[\]}]|\//.test(text)) expect(() => parse(text)).toThrow(JsoncError);
          return;
        }
        expect(plain(parse(text))).toEqual(plain(expected));
      },
    ),
  );
});

test.each([
  ["{,}", 1],
  ["[1,,2]", 3],
  ["[1 2]", 3],
  ['{"a" 1}', 5],
  ["{a: 1}", 1],
  ["[01]", 2],
  ["[+1]", 1],
  ['["a\nb"]', 1],
  ['["\\x"]', 1],
  ["'a'", 0],
  ["{} {}", 3],
  ["/", 0],
  ["nul", 0],
])("%j is refused at %i", (text, offset) => {
  expect(() => parse(text)).toThrow(expect.objectContaining({ offset }));
});

test("a name that is escaped differently is still the same name", () => {
  expect(() => parse('{"a":1,"\\u0061":2}')).toThrow(/twice/);
});

test("a large text is read in one pass", () => {
  const text = `{"a":[${"/* c */ 1,\n".repeat(50_000)}]}`;
  expect(Object(parse(text)).a).toHaveLength(50_000);
  expect(createLineIndex(text)(text.length - 2)).toEqual({ line: 50_001, column: 1 });
});

test.each(["a", "\\n", "a\\u0041", "a\\\\"])(
  "a string of %j over and over without an end is refused at once",
  (part) => {
    expect(() => parse(`["${part.repeat(100_000)}`)).toThrow(JsoncError);
  },
);
