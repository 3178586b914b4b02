import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeFolders } from "./make-folders.ts";

const base = mkdtempSync(join(tmpdir(), "octant-folders-"));
afterAll(() => rmSync(base, { recursive: true }));

test("missing parents are created, all with the mode; an existing folder is fine", () => {
  for (const _ of [1, 2]) makeFolders(join(base, "a/b/c"), 0o700);
  expect(readdirSync(base, { recursive: true }).sort()).toEqual(["a", "a/b", "a/b/c"]);
  expect(statSync(join(base, "a/b")).mode & 0o777).toBe(0o700);
});

test("a file in the way is an error", () => {
  writeFileSync(join(base, "file"), "");
  expect(() => makeFolders(join(base, "file"), 0o700)).toThrow(/EEXIST/);
  expect(() => makeFolders(join(base, "file/below"), 0o700)).toThrow(/ENOTDIR/);
});

test.skipIf(process.platform !== "linux")("where the system takes no folder, it fails at once", () => {
  expect(() => makeFolders("/proc/nope/octant/x", 0o700)).toThrow(/ENOENT/);
});
