import fc from "fast-check";
import { expect, test } from "vitest";
import { readToml } from "./data.ts";

const plain = (text: string) => JSON.parse(JSON.stringify(readToml(text).value));

test.each([
  ["tables and dotted keys", '[a.b]\nc.d = "x"', { a: { b: { c: { d: "x" } } } }],
  ["quoted keys", '"a b".\'c.d\' = "x"', { "a b": { "c.d": "x" } }],
  [
    "strings of all kinds",
    `a = "q\\"\\u0041\\n"\nb = 'c:\\x'\nc = """\none\ntwo"""\nd = '''x'''`,
    { a: 'q"A\n', b: "c:\\x", c: "one\ntwo", d: "x" },
  ],
  [
    "lists over several lines, with comments and a trailing comma",
    'a = [ # one\n  "x", # two\n  ["y"],\n]',
    { a: ["x", ["y"]] },
  ],
  ["inline tables", 'a = { b = "x", c.d = ["y"], e = {} }', { a: { b: "x", c: { d: ["y"] }, e: {} } }],
  [
    "lists of tables, and tables in the newest",
    '[[a]]\nn = "1"\n[[a]]\nn = "2"\n[a.b]\nc = "x"',
    { a: [{ n: "1" }, { n: "2", b: { c: "x" } }] },
  ],
  ["numbers and booleans", "a = 1_000\nb = true\ne = 0xff", { a: 1000, b: true, e: 255 }],
  ["Windows line ends", '[a]\r\nb = "x" # y\r\nc = "z"\r\n', { a: { b: "x", c: "z" } }],
])("%s", (_, text, value) => {
  expect(plain(text)).toEqual(value);
  expect(readToml(text).problem).toBeUndefined();
});

test.each([
  ["no value", 'a = "1"\nb =\nc = "2"', 2],
  ["a bare word", 'a = "1"\nc = "2"\nb = word', 3],
  ["an open string", 'a = "1"\nb = "x\nc = "2"', 2],
  ["something after the value", 'a = "1"\nb = "x" y\nc = "2"', 2],
  ["a table where a text is", 'a = "1"\n[a.b]\nc = "2"', 2],
])("%s is a problem with its line", (_, text, line) => {
  expect(readToml(text)).toEqual({ value: undefined, problem: `not valid TOML: line ${line}` });
});

test("keys from Object.prototype are ordinary keys", () => {
  readToml('[__proto__]\npolluted = "yes"\n[constructor.prototype]\npolluted = "yes"');
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
});

test("any text is parsed to its end", () => {
  const piece = fc.constantFrom(..."[]{}=.,#'\"\\\n \t", '"""', "'''", "a", "1", "true");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.array(piece).map((all) => all.join("")),
      ),
      (text) => {
        readToml(text);
      },
    ),
    { numRuns: 1_000 },
  );
});

test("an integer beyond JavaScript's range does not affect the rest", () => {
  expect(readToml('a = 9223372036854775807\nb = "x"').value).toMatchObject({ b: "x" });
});

test("hostile nesting is a problem, not a crash", () => {
  expect(readToml(`a = ${"[".repeat(100_000)}`).problem).toMatch(/^not valid TOML: line 1/);
});
