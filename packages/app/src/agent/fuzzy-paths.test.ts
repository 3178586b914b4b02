import { expect, test } from "vitest";
import { createPathList, findPaths } from "./fuzzy-paths.ts";

const list = createPathList([
  "src/util/add.ts",
  "src/main.ts",
  "packages/app/src/agent/user-session.ts",
  "my notes/first day.md",
  "README.md",
]);

test.each([
  ["utad", "src/util/add.ts"],
  ["usrsess", "packages/app/src/agent/user-session.ts"],
  ["session", "packages/app/src/agent/user-session.ts"],
  ["agent", "packages/app/src/agent/"],
  ["READ", "README.md"],
  ["first day", "my notes/first day.md"],
  ["util/", "src/util/"],
])("%s finds %s first", (typed, path) => {
  expect(findPaths(list, typed, 5)[0]).toBe(path);
});

test("letters in another order find nothing", () => {
  expect(findPaths(list, "zzz", 5)).toEqual([]);
});
