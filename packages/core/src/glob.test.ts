import { describe, expect, test } from "vitest";
import { type Glob, parseGlob } from "./glob.ts";

const glob = (pattern: string): Glob => {
  const parsed = parseGlob(pattern);
  if ("error" in parsed) throw new Error(parsed.error);
  return parsed;
};
const matches = (pattern: string, path: string) => glob(pattern).matches(path.split("/"), 0);

test.each([
  ["a.ts", "a.ts", true],
  ["a.ts", "x/a.ts", false],
  ["*.ts", "a.ts", true],
  ["*.ts", ".ts", true],
  ["*.ts", "a/b.ts", false],
  ["*", "", true],
  ["?", "a", true],
  ["?", "", false],
  ["a*b*c", "aXbYbc", true],
  ["a*b*c", "acb", false],
  ["**/a", "a", true],
  ["**/a", "x/y/a", true],
  ["**/a", "x/y/ab", false],
  ["a/**", "a", true],
  ["a/**/*", "a", false],
  ["a/**/*", "a/b/c", true],
  ["a/**/b", "a/b", true],
  ["a/**/b", "a/x/y/b", true],
  ["a/**/b", "ab", false],
  ["**/x/**/y/**/z", "1/x/2/y/3/y/z", true],
  ["**/x/**/y/**/z", "1/x/2/z", false],
  ["{a,b}.ts", "b.ts", true],
  ["{a,b}.ts", "c.ts", false],
  ["{a,b{c,d}}x", "bdx", true],
  ["a{,b}", "a", false],
  ["{src,lib}/**/*.{ts,js}", "lib/a/b.js", true],
  ["[a-c]x", "bx", true],
  ["[!a-c]x", "bx", false],
  ["[^a-c]x", "dx", true],
  ["[]]", "]", true],
  ["[a-]", "-", true],
  ["[{]", "{", true],
  ["\\*", "*", true],
  ["\\*", "x", false],
  ["a,b", "a,b", true],
] as const)("%s on %s: %s", (pattern, path, expected) => {
  expect(matches(pattern, path)).toBe(expected);
});

test.each(["a{b", "a}", "[a", "[b-a]", "a\\", "{".repeat(100), "{a,b}".repeat(20), `{${"a,".repeat(300)}a}`])(
  "%s is not a valid glob",
  (pattern) => {
    expect(parseGlob(pattern)).toHaveProperty("error");
  },
);

describe("where to go down", () => {
  test.each([
    ["src/*.ts", "src", true],
    ["src/*.ts", "lib", false],
    ["src/*.ts", "src/a", false],
    ["src/**/*.ts", "src/a/b", true],
    ["**/a", "x/y", true],
    ["{a,b}/c/d", "b/c", true],
    ["{a,b}/c/d", "c", false],
    ["a", "a", false],
  ])("%s below %s: %s", (pattern, folder, expected) => {
    expect(glob(pattern).reachesBelow(folder.split("/"), 0)).toBe(expected);
  });
});

test("no pattern takes long, where a regular expression would run for hours", () => {
  const started = process.threadCpuUsage();
  expect(matches(`${"*a".repeat(100)}b`, "a".repeat(250))).toBe(false);
  expect(matches(`${"**/a/".repeat(100)}b`, Array(1_000).fill("a").join("/"))).toBe(false);
  expect(matches(`**/${"*a".repeat(60)}b`, Array(1_000).fill("aaaa").join("/"))).toBe(false);
  expect(process.threadCpuUsage(started).user).toBeLessThan(2_000_000);
});
