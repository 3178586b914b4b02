import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createConfinement } from "../confinement.ts";
import { type ListOptions, listEntries } from "./list.ts";

// Tests that we leave out exactly what ripgrep leaves out; fs.list itself is tested with the tools.

/** The number of random trees and globs; each takes a run of ripgrep. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 20);

const { rgPath } = createRequire(import.meta.url)("@vscode/ripgrep") as { rgPath: string };

let base: string;
let root: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-list-")));
  root = join(base, "ws");
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const put = (path: string, content = "") => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
};
const env = () => ({ HOME: join(base, "home"), PATH: process.env["PATH"] });

async function ours(options: Partial<ListOptions> = {}, folder = root): Promise<string[]> {
  const { entries } = await listEntries(createConfinement([root]), env(), {
    folder,
    depth: 1_000,
    includeIgnored: false,
    kind: "file",
    limit: 10_000,
    maxBytes: Number.POSITIVE_INFINITY,
    ...options,
  });
  return entries.map(({ uri }) => decodeURIComponent(uri.slice(`file://${root}/`.length)));
}

function ripgrep(...args: string[]): string[] {
  try {
    const out = execFileSync(
      rgPath,
      [
        "--no-config",
        "--files",
        "--hidden",
        "--no-messages",
        "--sort=path",
        "--null",
        "--glob=!.git",
        ...args,
      ],
      { cwd: root, env: env(), encoding: "utf8" },
    );
    return out.split("\0").slice(0, -1);
  } catch {
    // It answers 1 when there is nothing.
    return [];
  }
}

test("files at many places and of all kinds are obeyed as ripgrep obeys them", async () => {
  mkdirSync(join(root, ".git/info"), { recursive: true });
  put(".git/info/exclude", "excluded\n");
  put(".gitignore", "*.log\n!keep.log\n/build/\nnode_modules\n");
  put(".ignore", "!again.log\n");
  put(".rgignore", "never.txt\n");
  put("src/.gitignore", "!deep.log\ngenerated/*\n!generated/kept\n");
  put("sub/.git/HEAD");
  put("sub/.gitignore", "only-here\n");
  for (const name of ["a.log", "keep.log", "again.log", "never.txt", "excluded", "build/x", "x/build/y"])
    put(name);
  for (const name of ["src/deep.log", "src/a.log", "src/generated/a", "src/generated/kept"]) put(name);
  for (const name of ["node_modules/x/y", "sub/a.log", "sub/only-here", "only-here", ".github/w.yml"])
    put(name);
  expect(await ours()).toEqual(ripgrep());
  expect(await ours()).toContain("sub/a.log");
  expect(await ours({}, join(root, "src"))).toEqual(ripgrep("src"));
  expect(await ours({}, join(root, "node_modules"))).toEqual(ripgrep("node_modules"));
});

test("outside a repository git's files do not count", async () => {
  put(".gitignore", "a\n");
  put(".ignore", "b\n");
  for (const name of ["a", "b", "c"]) put(name);
  expect(await ours()).toEqual([".gitignore", ".ignore", "a", "c"]);
  expect(ripgrep()).toEqual([".gitignore", ".ignore", "a", "c"]);
});

test("the rules of the folders above the workspace count", async () => {
  mkdirSync(join(base, ".git"));
  writeFileSync(join(base, ".gitignore"), "/ws/top\nany\n");
  for (const name of ["top", "sub/top", "any", "sub/any"]) put(name);
  expect(await ours()).toEqual(["sub/top"]);
  expect(ripgrep()).toEqual(["sub/top"]);
});

test("in a worktree the shared repository's exclude file counts", async () => {
  mkdirSync(join(base, "repo/.git/worktrees/ws"), { recursive: true });
  mkdirSync(join(base, "repo/.git/info"));
  writeFileSync(join(base, "repo/.git/info/exclude"), "secret\n");
  writeFileSync(join(base, "repo/.git/worktrees/ws/commondir"), "../..\n");
  put(".git", `gitdir: ${base}/repo/.git/worktrees/ws\n`);
  put("secret");
  put("open");
  expect(await ours()).toEqual(["open"]);
  expect(ripgrep()).toEqual(["open"]);
});

test.each([
  [".config/git/ignore", undefined],
  ["my-ignores", "[core]\n\texcludesFile = ~/my-ignores\n"],
])("the user's own ignore file counts in a repository: %s", async (file, config) => {
  mkdirSync(dirname(join(base, "home", file)), { recursive: true });
  writeFileSync(join(base, "home", file), "*.swp\n");
  if (config) writeFileSync(join(base, "home/.gitconfig"), config);
  mkdirSync(join(root, ".git"));
  put("a.swp");
  put("a.txt");
  expect(await ours()).toEqual(["a.txt"]);
  expect(ripgrep()).toEqual(["a.txt"]);
});

test("an ignore file that is a pipe, a folder or not UTF-8 does not block anything", async () => {
  mkdirSync(join(root, ".git"));
  execFileSync("mkfifo", [join(root, ".gitignore")]);
  mkdirSync(join(root, ".ignore"));
  writeFileSync(join(root, ".rgignore"), Buffer.from("\xff\xfe*\nhidden\n", "latin1"));
  put("hidden");
  put("shown");
  expect(await ours()).toEqual([".rgignore", "shown"]);
});

test("random trees with random ignore files are listed as ripgrep lists them", async () => {
  const name = fc.constantFrom("a", "b", "ab", "a.b", "c.log", ".x", "ä", "é.log");
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  const piece = fc.constantFrom(
    "a",
    "b",
    "ab",
    "*",
    "**",
    "?",
    "a*",
    "*.log",
    "[ab]",
    "[!a]",
    "{a,b}",
    ".x",
    "ä",
    "\\a",
  );
  const line = fc
    .tuple(
      fc.constantFrom("", "", "", "!", "#", "\\"),
      fc.constantFrom("", "", "/"),
      fc.array(piece, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/")),
      fc.constantFrom("", "", "/", "  "),
    )
    .map((parts) => parts.join(""));
  const ignoreFile = fc.tuple(
    fc.constantFrom("", "a/", "b/", "a/b/"),
    fc.constantFrom(".gitignore", ".gitignore", ".ignore", ".rgignore"),
    fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join("\n")),
  );
  const repositories = fc.subarray(["", "a/", "a/b/"]);
  await fc.assert(
    fc.asyncProperty(
      fc.array(path, { minLength: 1, maxLength: 25 }),
      fc.array(ignoreFile, { maxLength: 4 }),
      repositories,
      async (paths, ignoreFiles, gits) => {
        rmSync(root, { recursive: true });
        mkdirSync(root);
        for (const one of paths) tryPut(one);
        for (const git of gits) tryPut(`${git}.git/HEAD`);
        for (const [folder, file, content] of ignoreFiles) tryPut(folder + file, content);
        expect(await ours()).toEqual(ripgrep());
      },
    ),
    { numRuns: RUNS },
  );
});

/** A random path may need a folder where a file exists, or the reverse; then it is skipped. */
const tryPut = (path: string, content = "") => {
  try {
    put(path, content);
  } catch {}
};

test("random globs choose the files that ripgrep chooses", async () => {
  for (const a of ["a", "b", "src", "ä"])
    for (const b of ["a", "lib", "x.ts"])
      for (const c of ["a.ts", "b.js", ".hidden", "é.ts"]) put(`${a}/${b}/${c}`);
  put("top.ts");
  const piece = fc.constantFrom(
    "a",
    "b",
    "src",
    "*",
    "**",
    "*.ts",
    "?",
    "??",
    "[a-b]*",
    "{a,src}",
    "x.*",
    "*.{ts,js}",
    ".*",
  );
  const glob = fc
    .tuple(fc.constantFrom("", "", "/", "!"), fc.array(piece, { minLength: 1, maxLength: 4 }))
    .map(([prefix, parts]) => prefix + parts.join("/"));
  await fc.assert(
    fc.asyncProperty(glob, async (pattern) => {
      expect(await ours({ pattern })).toEqual(ripgrep(`--glob=${pattern}`));
    }),
    { numRuns: RUNS },
  );
});
