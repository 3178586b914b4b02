import { toInputSchema } from "@octant/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { parseCallArguments } from "./call-arguments.ts";
import { UsageError } from "./command.ts";

const schema = toInputSchema({
  summary: "For the test.",
  access: "read",
  timing: "sync",
  intent: "inspect",
  input: z.strictObject({
    text: z.string().optional(),
    limit: z.int().optional(),
    deep: z.boolean().optional(),
    uri: z.union([z.string(), z.array(z.string())]).optional(),
    globs: z.array(z.string()).optional(),
    lines: z.array(z.int()).optional(),
    range: z.strictObject({ start: z.int() }).optional(),
    until: z.int().nullable().optional(),
  }),
  output: z.unknown(),
  examples: [{ title: "None", input: {} }],
  run: () => undefined,
});
const files: Readonly<Record<string, string>> = { "fix.diff": "--- a\n+++ b\n", "-": "from stdin" };
const parse = (...words: string[]) => parseCallArguments(words, schema, (source) => files[source] ?? "");

test.each([
  ["a string stays one, whatever it looks like", ["text=42"], { text: "42" }],
  ["a number is read as a number", ["limit=42"], { limit: 42 }],
  ["a boolean is read as a boolean", ["deep=true"], { deep: true }],
  ["an object is JSON", ['range={"start":3}'], { range: { start: 3 } }],
  ["null where it may be null", ["until=null"], { until: null }],
  ["a string or a list: plain text is the string", ["uri=a b"], { uri: "a b" }],
  ["a string or a list: JSON is the list", ['uri=["a","b"]'], { uri: ["a", "b"] }],
  ["the same key again makes a list", ["uri=a", "uri=b"], { uri: ["a", "b"] }],
  ["one value for a list is a list of one", ["globs=*.ts"], { globs: ["*.ts"] }],
  ["the items of a list are read by their own type", ["lines=1", "lines=2"], { lines: [1, 2] }],
  ["only the first = divides", ["text=a=b"], { text: "a=b" }],
  ["nothing after = is an empty string", ["text="], { text: "" }],
  ["@ reads a file", ["text=@fix.diff"], { text: "--- a\n+++ b\n" }],
  ["@- reads stdin", ["text=@-"], { text: "from stdin" }],
  ["@@ is an @", ["text=@@home"], { text: "@home" }],
  ["one JSON object is all of it", ['{"limit":1,"text":"x"}'], { limit: 1, text: "x" }],
  ["what does not fit is left for the dispatcher to refuse", ["limit=many"], { limit: "many" }],
  ["so is a key that nobody knows", ["nope=1"], { nope: 1 }],
])("%s", (_, words, input) => {
  expect(parse(...words)).toEqual(input);
});

test.each([[["README.md"]], [["=x"]], [["{broken"]], [["limit=1", "limit=2"]]])(
  "%j is wrong usage",
  (words) => {
    expect(() => parse(...words)).toThrow(UsageError);
  },
);

test("a string parameter gets exactly the characters that were typed", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!text.startsWith("@"));
      expect(parse(`text=${text}`)).toEqual({ text });
    }),
  );
});

test("a key cannot reach the prototype", () => {
  const input = parse("__proto__=x");
  expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
  expect(Object.keys(input)).toEqual(["__proto__"]);
});
