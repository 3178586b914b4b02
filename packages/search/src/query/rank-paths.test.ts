import { expect, test } from "vitest";
import { rankPaths } from "./rank-paths.ts";

const PATHS = ["src/http/header.ts", "src/header.test.ts", "header.ts", "docs/headers/index.md", "lib/x.py"];

test("the closest path comes first", () => {
  expect(rankPaths("header.ts", PATHS)).toEqual(["header.ts", "src/http/header.ts"]);
  expect(rankPaths("./http/header.ts", PATHS)).toEqual(["src/http/header.ts"]);
  expect(rankPaths("headers/", PATHS)).toEqual(["docs/headers/index.md"]);
});

test("a glob without a folder means any folder", () => {
  expect(rankPaths("*.ts", PATHS)).toEqual(["header.ts", "src/header.test.ts", "src/http/header.ts"]);
  expect(rankPaths("src/*.ts", PATHS)).toEqual(["src/header.test.ts"]);
  expect(rankPaths("**/*.{md,py}", PATHS)).toEqual(["lib/x.py", "docs/headers/index.md"]);
  expect(rankPaths("", PATHS)).toEqual([]);
});
