import { expect, test } from "vitest";
import { needsOf } from "./needs.ts";

/** As texts, to be read. */
const textsOf = (pattern: string, fixed = false) =>
  needsOf({ pattern, fixed })?.map((trigrams) =>
    trigrams.map((one) => String.fromCharCode(one >> 16, (one >> 8) & 0xff, one & 0xff)).join(" "),
  );

test.each([
  ["abc", ["abc"]],
  ["Abcd", ["abc bcd"]],
  ["abc*def", ["def"]],
  ["abcd?e", ["abc"]],
  ["abc+def", ["abc def"]],
  ["abc\\(def", ["abc bc( c(d (de def"]],
  ["fn\\s+name\\b", ["nam ame"]],
  ["abc|xyz", ["abc", "xyz"]],
  ["(abc|xyz)", ["abc", "xyz"]],
  ["(?:abc)+xyz", ["xyz abc"]],
  ["(?P<n>abc|de)fgh", ["fgh"]],
  ["\\d{3}abc", ["abc"]],
  ["[a-z]+abc[]x]", ["abc"]],
  ["^abc$", ["abc"]],
  ["abcé", ["abc"]],
])("%s needs %j", (pattern, expected) => {
  expect(textsOf(pattern)).toEqual(expected);
});

test.each([
  "ab",
  "a.b.c",
  "abc|de",
  "(abc)?",
  "(abc|de)",
  "abc*",
  "(?i)abc",
  "(?x) a b c",
  "\\x61bcd",
  "\\p{L}abc",
  "[[:alpha:]]abc",
  "[a&&[b]]abc",
  "\\b{start}abc",
  "\\<abc\\>",
  "abc)",
  "(abc",
  "a{",
  "abc\ndef",
  "",
])("%j tells nothing", (pattern) => {
  expect(textsOf(pattern)).toBeUndefined();
});

test("a fixed pattern needs all of its text, and no line end may be in it", () => {
  expect(textsOf("A.b*", true)).toEqual(["a.b .b*"]);
  expect(textsOf("ab", true)).toBeUndefined();
  expect(textsOf("abc\ndef", true)).toBeUndefined();
  expect(needsOf({ pattern: "abc", multiline: true })).toBeUndefined();
});
