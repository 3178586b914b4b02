import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Breakage } from "./case.ts";
import { follow, growingFile } from "./following.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-following-"));
  file = join(folder, "events.jsonl");
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

function start(maxBytes?: number) {
  const lines: string[] = [];
  const broken: Breakage[] = [];
  const parser = { line: (line: string) => lines.push(line), end: () => true };
  const following = follow(growingFile(file, maxBytes), parser, { broken: (one) => broken.push(one) });
  return { lines, broken, ...following };
}

test("output is read while it is written, and the rest at the end", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const { lines, finish, broken } = start();
  vi.advanceTimersByTime(200);
  writeFileSync(file, "one\ntw");
  vi.advanceTimersByTime(200);
  expect(lines).toEqual(["one"]);
  appendFileSync(file, "o\nthree");
  expect(await finish()).toBe(true);
  expect(lines).toEqual(["one", "two", "three"]);
  expect(broken).toEqual([]);
});

test.each([
  ["a folder", () => mkdirSync(file)],
  ["a pipe", () => execFileSync("mkfifo", [file])],
  ["a link to what never ends", () => symlinkSync("/dev/zero", file)],
])("%s in place of the file ends the reading, and nothing else", async (_what, replace) => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const { lines, finish, broken } = start();
  writeFileSync(file, "one\n");
  vi.advanceTimersByTime(200);
  rmSync(file);
  replace();
  vi.advanceTimersByTime(1_000);
  expect(await finish()).toBe(false);
  expect(lines).toEqual(["one"]);
  expect(broken).toMatchObject([{ problem: { message: expect.stringContaining("cannot be read") } }]);
});

test("a file that grows beyond its limit is not read to its end", async () => {
  const { finish, broken } = start(1_000);
  writeFileSync(file, "x".repeat(1_001));
  expect(await finish()).toBe(false);
  expect(broken).toMatchObject([{ problem: { message: expect.stringContaining("1000 bytes") } }]);
});
