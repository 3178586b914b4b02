import fc from "fast-check";
import { expect, test } from "vitest";
import { readToml } from "./toml.ts";

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
    "lists over lines, with comments and a last comma",
    'a = [ # one\n  "x", # two\n  ["y"],\n]',
    { a: ["x", ["y"]] },
  ],
  ["inline tables", 'a = { b = "x", c.d = ["y"], e = {} }', { a: { b: "x", c: { d: ["y"] }, e: {} } }],
  [
    "lists of tables, and tables in the newest",
    '[[a]]\nn = "1"\n[[a]]\nn = "2"\n[a.b]\nc = "x"',
    { a: [{ n: "1" }, { n: "2", b: { c: "x" } }] },
  ],
  [
    "values that nobody asks for",
    "a = 1_000\nb = true\nc = 1979-05-27T07:32:00Z\nd = -inf\ne = 0xff",
    { a: null, b: null, c: null, d: null, e: null },
  ],
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
])("%s is a problem with its line, and the rest is read", (_, text, line) => {
  const { value, problem } = readToml(text);
  expect(problem).toBe(`not valid TOML: line ${line}`);
  expect(value).toMatchObject({ a: "1", c: "2" });
});

test("keys from Object.prototype are keys", () => {
  readToml('[__proto__]\npolluted = "yes"\n[constructor.prototype]\npolluted = "yes"');
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
});

test("any text at all is read to its end", () => {
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

test("what JSON can say in strings, lists and tables comes back the same", () => {
  const key = fc.string({ unit: fc.constantFrom(..."abc_-12"), minLength: 1 });
  const text = fc.string({ unit: fc.constantFrom(..."ab \"'\\#=[]{},.é") });
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, text, fc.array(tie("value")), fc.dictionary(key, tie("value"))),
  }));
  const write = (any: unknown): string => {
    if (typeof any === "string") return JSON.stringify(any);
    if (Array.isArray(any)) return `[${any.map(write).join(", ")}]`;
    return `{${Object.entries(any as object)
      .map(([name, inner]) => `${name} = ${write(inner)}`)
      .join(", ")}}`;
  };
  fc.assert(
    fc.property(value, (any) => {
      expect(plain(`v = ${write(any)}`)).toEqual(JSON.parse(JSON.stringify({ v: any })));
    }),
  );
});
