import { mkdirSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createConfinement } from "../confinement.ts";
import { holdFolders } from "./held-folders.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "octant-held-")));
  mkdirSync(join(root, "a"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const openDescriptors = () => readdirSync("/proc/self/fd").length;

test("a folder is opened once, stays the same one when another takes its name, and is closed at the end", () => {
  const before = openDescriptors();
  {
    using held = holdFolders(createConfinement([root]));
    const path = join(root, "a");
    const [first, inode] = [held.openFolder(path), held.openFolder(path).stat.ino];
    renameSync(path, join(root, "b"));
    mkdirSync(path);
    first[Symbol.dispose]();
    const again = held.openFolder(path, { readable: true });
    expect(again).toMatchObject({ fd: first.fd, stat: { ino: inode } });
    expect(openDescriptors()).toBe(before + 1);
  }
  expect(openDescriptors()).toBe(before);
});

test("what is not there or lies outside is refused as ever, and nothing stays open", () => {
  const before = openDescriptors();
  {
    using held = holdFolders(createConfinement([root]));
    expect(() => held.openFolder(join(root, "none"))).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
    expect(() => held.openFolder(tmpdir())).toThrow(expect.objectContaining({ code: "OUTSIDE_WORKSPACE" }));
  }
  expect(openDescriptors()).toBe(before);
});
