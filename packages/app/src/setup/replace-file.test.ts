import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { followLinks, replaceFile } from "./replace-file.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-replace-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const OLD = Buffer.from("old");
const NEW = Buffer.from("new");

function put(name: string, mode = 0o640): string {
  const path = join(base, name);
  writeFileSync(path, OLD);
  chmodSync(path, mode);
  return path;
}

test("the file keeps its mode, and a backup that only its owner can read is stored next to it", () => {
  const path = put("mcp.json");
  const { backup } = replaceFile(path, OLD, NEW);
  expect(readFileSync(path, "utf8")).toBe("new");
  expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(backup).toMatch(/mcp\.json\.octant-\d{8}T\d{6}Z(-\d+)?\.bak$/);
  expect(readFileSync(backup!, "utf8")).toBe("old");
  expect(statSync(backup!).mode & 0o777).toBe(0o600);
  expect(readdirSync(base)).toHaveLength(2);
});

test("ten backups within a second are ten files", () => {
  const path = put("mcp.json");
  for (let i = 0; i < 5; i++) {
    replaceFile(path, OLD, NEW);
    replaceFile(path, NEW, OLD);
  }
  expect(readdirSync(base)).toHaveLength(11);
});

test("a symlink stays, and its target is changed", () => {
  mkdirSync(join(base, "dotfiles"));
  const real = put("dotfiles/mcp.json");
  const path = join(base, "mcp.json");
  symlinkSync("dotfiles/mcp.json", path);
  const { undo } = replaceFile(path, OLD, NEW);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(readFileSync(real, "utf8")).toBe("new");
  expect(undo()).toBe(true);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(readFileSync(real, "utf8")).toBe("old");
});

test("a dangling symlink leads to the new file", () => {
  mkdirSync(join(base, "dotfiles"));
  symlinkSync("dotfiles/mcp.json", join(base, "mcp.json"));
  expect(followLinks(join(base, "mcp.json"))).toBe(join(base, "dotfiles/mcp.json"));
  replaceFile(join(base, "mcp.json"), undefined, NEW);
  expect(readFileSync(join(base, "dotfiles/mcp.json"), "utf8")).toBe("new");
});

test("undo leaves nothing behind: no file, no backup, no folder", () => {
  const made = replaceFile(join(base, "a/b/mcp.json"), undefined, NEW);
  expect(made.backup).toBeUndefined();
  expect(made.undo()).toBe(true);
  const path = put("mcp.json");
  expect(replaceFile(path, OLD, NEW).undo()).toBe(true);
  expect(readFileSync(path, "utf8")).toBe("old");
  expect(readdirSync(base)).toEqual(["mcp.json"]);
});

test("a concurrent change by another program is neither overwritten nor reverted", () => {
  const path = put("mcp.json");
  expect(() => replaceFile(path, Buffer.from("older"), NEW)).toThrow(/changed by another program/);
  expect(readdirSync(base)).toEqual(["mcp.json"]);
  const { undo, backup } = replaceFile(path, OLD, NEW);
  writeFileSync(path, "theirs");
  expect(undo()).toBe(false);
  expect(readFileSync(path, "utf8")).toBe("theirs");
  expect(existsSync(backup!)).toBe(true);
});
