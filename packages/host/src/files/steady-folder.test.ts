import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createConfinement } from "../confinement.ts";
import { watchSteady } from "./steady-folder.ts";

let base: string;
let root: string;

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-steady-")));
  root = join(base, "ws");
  mkdirSync(join(root, "a/b"), { recursive: true });
  mkdirSync(join(base, "out"));
  writeFileSync(join(root, "a/b/file"), "inside");
  // A change time cannot be set back; only the clock makes it old.
  while (Date.now() - lstatSync(join(root, "a/b")).ctimeMs < 150) await delay(10);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const watch = () => {
  const confinement = createConfinement([root]);
  using folder = confinement.openFolder(join(root, "a/b"));
  return watchSteady(confinement.roots, folder);
};

test("a folder where nothing happens holds", () => {
  const steady = watch();
  expect(lstatSync(steady?.at("file") ?? "").size).toBe(6);
  expect(steady?.held()).toBe(true);
});

test.each(["a/b", "a"])("moving %s away and back is noticed", (path) => {
  const steady = watch();
  renameSync(join(root, path), join(base, "moved"));
  symlinkSync(join(base, "out"), join(root, path));
  rmSync(join(root, path));
  renameSync(join(base, "moved"), join(root, path));
  expect(steady?.held()).toBe(false);
});

test("a folder that is somewhere else by now is noticed", () => {
  const steady = watch();
  renameSync(join(root, "a"), join(base, "moved"));
  symlinkSync(join(base, "moved"), join(root, "a"));
  expect(steady?.held()).toBe(false);
});

test("a folder that has just changed is not relied on, whatever its modification time says", () => {
  writeFileSync(join(root, "a/b/new"), "");
  utimesSync(join(root, "a/b"), 0, 0);
  expect(watch()).toBeUndefined();
});
