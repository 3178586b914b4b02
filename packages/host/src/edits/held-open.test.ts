import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createConfinement } from "../confinement.ts";
import { holdOpen } from "./held-open.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "octant-held-")));
  mkdirSync(join(root, "a"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const openDescriptors = () => readdirSync("/proc/self/fd").length;

test("a folder is opened once, and stays the same one when another takes its name", () => {
  const before = openDescriptors();
  const held = holdOpen(createConfinement([root]));
  const path = join(root, "a");
  const { fd, stat, ...first } = held.openFolder(path);
  renameSync(path, join(root, "b"));
  mkdirSync(path);
  first[Symbol.dispose]();
  expect(held.openFolder(path, { readable: true })).toMatchObject({ fd, stat: { ino: stat.ino } });
  expect(openDescriptors()).toBe(before + 1);
  held.release();
  expect(openDescriptors()).toBe(before);
  expect(held.openFolder(path).stat.ino).not.toBe(stat.ino);
  held.release();
});

test("a file stays open until it is released, within the descriptor limit", () => {
  const before = openDescriptors();
  const held = holdOpen(createConfinement([root]));
  const path = join(root, "file");
  writeFileSync(path, "text");
  for (let n = 0; n < 1_000; n++) held.openFile(path)[Symbol.dispose]();
  expect(openDescriptors()).toBeGreaterThan(before);
  expect(openDescriptors()).toBeLessThan(before + 100);
  held.release();
  expect(openDescriptors()).toBe(before);
});

test("a failing close neither keeps others open nor stops the edit", () => {
  const before = openDescriptors();
  const held = holdOpen(createConfinement([root]));
  closeSync(held.openFolder(root).fd);
  held.openFolder(join(root, "a"));
  held.release();
  expect(openDescriptors()).toBe(before);
});

test("a missing path or one outside is refused as usual, and nothing stays open", () => {
  const before = openDescriptors();
  const held = holdOpen(createConfinement([root]));
  expect(() => held.openFolder(join(root, "none"))).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
  expect(() => held.openFolder(tmpdir())).toThrow(expect.objectContaining({ code: "OUTSIDE_WORKSPACE" }));
  expect(() => held.openFile(join(root, "a"))).toThrow(expect.objectContaining({ code: "NOT_A_FILE" }));
  expect(openDescriptors()).toBe(before);
});
