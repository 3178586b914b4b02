import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { excludeFromGit } from "./exclude.ts";

test("git ignores an excluded file of a folder in the repository, and the list names it once", () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "octant-exclude-")));
  const git = (...args: string[]) => execFileSync("git", args, { cwd: top, encoding: "utf8" });
  const root = join(top, "part");
  mkdirSync(join(root, ".hanzo"), { recursive: true });
  writeFileSync(join(root, ".hanzo/settings.local.json"), "{}");
  git("init", "--quiet");
  for (let i = 0; i < 2; i++) excludeFromGit({ roots: [root] }, root, ".hanzo/settings.local.json");
  expect(git("status", "--porcelain", "--untracked-files=all")).toBe("");
  const list = readFileSync(join(top, ".git/info/exclude"), "utf8");
  expect(list.split("\n").filter((line) => line === "/part/.hanzo/settings.local.json")).toHaveLength(1);
  rmSync(top, { recursive: true });
});

test("a list that is a link is not followed", () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "octant-exclude-")));
  execFileSync("git", ["init", "--quiet"], { cwd: top });
  writeFileSync(join(top, "victim"), "");
  rmSync(join(top, ".git/info/exclude"), { force: true });
  mkdirSync(join(top, ".git/info"), { recursive: true });
  symlinkSync(join(top, "victim"), join(top, ".git/info/exclude"));
  excludeFromGit({ roots: [top] }, top, ".hanzo/settings.local.json");
  expect(readFileSync(join(top, "victim"), "utf8")).toBe("");
  rmSync(top, { recursive: true });
});
