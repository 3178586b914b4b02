import { expect, test } from "vitest";
import { toRows } from "./tree-rows.ts";

const entry = (path: string, kind: "file" | "directory" = "file") => ({
  uri: `file:///p/${path}`,
  kind,
  size: 1,
});
const relative = (uri: string) => uri.slice("file:///p/".length);

test("folders come first, names are sorted as a person counts, and only open folders show their entries", () => {
  const folders = new Map([
    ["", [entry("part10.ts"), entry("part2.ts"), entry("src", "directory"), entry("docs", "directory")]],
    ["src", [entry("src/a.ts")]],
    ["docs", [entry("docs/x.md")]],
  ]);
  expect(toRows(folders, new Set(["src"]), relative).map(({ name, depth }) => [name, depth])).toEqual([
    ["docs", 0],
    ["src", 0],
    ["a.ts", 1],
    ["part2.ts", 0],
    ["part10.ts", 0],
  ]);
});
