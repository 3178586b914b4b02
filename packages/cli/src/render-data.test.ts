import { expect, test } from "vitest";
import { renderData } from "./render-data.ts";

const ROOT = "file:///home/me/demo";
const range = { start: { line: 3, col: 2 }, end: { line: 3, col: 5 } };
const facts = (data: unknown) => renderData(data, ROOT).facts.join("\n");

test("the text of an answer comes apart from the facts about it", () => {
  const rendered = renderData({ uri: `${ROOT}/a.txt`, text: "one\ntwo", size: 7 }, ROOT);
  expect(rendered).toEqual({ body: "one\ntwo", facts: ["uri: a.txt", "size: 7"] });
});

test("a list of like things is a table with paths that can be given back", () => {
  const entries = [
    { uri: `${ROOT}/src/main.ts`, kind: "file", size: 26 },
    { uri: `${ROOT}/b%20c`, kind: "directory" },
  ];
  expect(facts({ entries })).toBe(
    [
      "uri                         kind       size",
      "src/main.ts                 file       26",
      "file:///home/me/demo/b%20c  directory  -",
    ].join("\n"),
  );
});

test("a place in a file reads as editors take it, and a hash is cut in a table only", () => {
  const hash = `sha256:${"1".repeat(64)}`;
  expect(facts({ matches: [{ uri: `${ROOT}/a.ts`, range, text: "\tfoo", hash }], count: 1, hash })).toBe(
    [
      "matches:",
      "  place     text   hash",
      "  a.ts:4:3  \\tfoo  sha256:111111111111…",
      "count: 1",
      `hash: ${hash}`,
    ].join("\n"),
  );
});

test("what is inside something is indented, and what is empty says so", () => {
  expect(facts({ vcs: { kind: "git", branch: null }, ci: [], names: ["a", "b"], range })).toBe(
    ["vcs:", "  kind: git", "  branch: -", "ci: none", "names: a, b", "range: 4:3-4:6"].join("\n"),
  );
});

test("things with long texts inside are shown one after the other", () => {
  expect(
    facts([
      { uri: "a", text: "1\n2\n" },
      { uri: "b", text: "x".repeat(2) },
      { uri: "c", deep: { list: [{ a: "y".repeat(90) }] } },
    ]),
  ).toBe(
    [
      "uri: a",
      "text:",
      "  1",
      "  2",
      "",
      "uri: b",
      "text: xx",
      "",
      "uri: c",
      "deep:",
      "  list:",
      "    a",
      `    ${"y".repeat(90)}`,
    ].join("\n"),
  );
});

test.each([
  [null, "-"],
  [true, "true"],
  [3, "3"],
  [[], "none"],
])("%j alone is %j", (data, shown) => {
  expect(facts(data)).toBe(shown);
});
