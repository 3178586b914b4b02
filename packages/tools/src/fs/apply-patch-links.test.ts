import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEditWorkspace, type EditWorkspace } from "../../testing/fs/edit-workspace.ts";

let ws: EditWorkspace;
beforeEach(() => {
  ws = createEditWorkspace();
});
afterEach(() => ws.close());

const hashOf = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const at = (name: string) => join(ws.root, name);
const uriOf = (name: string) => `file://${at(name)}`;

const [FILE, LINK, SUBMODULE] = ["100644", "120000", "160000"] as const;

/** One part of a git diff; null means that the side does not exist. */
function part(name: string, mode: string, old: string | null, made: string | null): string {
  const what = old === null ? `new file mode ${mode}` : made === null ? `deleted file mode ${mode}` : "";
  const line = (sign: string, text: string | null) =>
    text === null ? "" : `${sign}${text}\n${mode === LINK ? "\\ No newline at end of file\n" : ""}`;
  return [
    `diff --git a/${name} b/${name}\n${what || `index 1..2 ${mode}`}\n`,
    `--- ${old === null ? "/dev/null" : `a/${name}`}\n+++ ${made === null ? "/dev/null" : `b/${name}`}\n`,
    `@@ -${old === null ? "0,0" : 1} +${made === null ? "0,0" : 1} @@\n${line("-", old)}${line("+", made)}`,
  ].join("");
}
const renamed = (from: string, to: string) =>
  `diff --git a/${from} b/${to}\nsimilarity index 100%\nrename from ${from}\nrename to ${to}\n`;
const [ONE, TWO] = ["Subproject commit 1", "Subproject commit 2"];

/** Everything in the workspace, without following links. */
const tree = (below = ""): Record<string, string> =>
  Object.fromEntries(
    readdirSync(at(below), { withFileTypes: true }).flatMap((entry) => {
      const name = join(below, entry.name);
      if (entry.isSymbolicLink()) return [[name, `-> ${readlinkSync(at(name))}`]];
      if (entry.isFile()) return [[name, readFileSync(at(name), "utf8")]];
      return [[name, "folder"], ...Object.entries(tree(name))];
    }),
  );

/** A file, all kinds of links, an empty submodule and a populated one. */
beforeEach(() => {
  writeFileSync(at("a.txt"), "one\n");
  mkdirSync(at("src"));
  symlinkSync("a.txt", at("link"));
  symlinkSync("src", at("inside"));
  symlinkSync("../..", at("away"));
  mkdirSync(at("empty"));
  mkdirSync(at("full"));
  writeFileSync(at("full/.git"), "gitdir: elsewhere\n");
});

const A_TXT = [{ uri: "a.txt", base_hash: hashOf("one\n") }];

test("links are created, retargeted, renamed, deleted and turned into files and back, with undo and redo", async () => {
  const before = tree();
  const answer = await ws.ok("apply_patch", {
    files: A_TXT,
    patch: [
      part("new/link", LINK, null, "../a.txt"),
      part("inside", LINK, "src", "empty"),
      renamed("link", "src/moved"),
      part("away", LINK, "../..", null),
      part("away", FILE, null, "a file"),
      part("a.txt", FILE, "one", null),
      part("a.txt", LINK, null, "src/nothing yet"),
    ].join(""),
  });
  const { link: _link, ...rest } = before;
  const after = {
    ...rest,
    new: "folder",
    "new/link": "-> ../a.txt",
    inside: "-> empty",
    "src/moved": "-> a.txt",
    away: "a file\n",
    "a.txt": "-> src/nothing yet",
  };
  expect(tree()).toEqual(after);
  const plain = { match: "exact", hunks: expect.any(Array) };
  const one = { uri: uriOf("new/link"), hash: hashOf("../a.txt"), kind: "symlink", created: true, ...plain };
  expect(answer.files.slice(0, 5)).toEqual([
    one,
    { uri: uriOf("inside"), hash: hashOf("empty"), kind: "symlink", ...plain },
    {
      uri: uriOf("src/moved"),
      hash: hashOf("a.txt"),
      kind: "symlink",
      renamed_from: uriOf("link"),
      ...plain,
    },
    { uri: uriOf("away"), hash: null, kind: "symlink", deleted: true, ...plain },
    { uri: uriOf("away"), hash: hashOf("a file\n"), created: true, ...plain },
  ]);
  const undone = await ws.ok("apply_patch", { patch: answer.undo! });
  expect(tree()).toEqual(before);
  await ws.ok("apply_patch", { patch: undone.undo! });
  expect(tree()).toEqual(after);
});

test("a link needs no base_hash; one that is given is the hash of its target path", async () => {
  const patch = part("link", LINK, "a.txt", "src");
  const stale = { uri: "link", base_hash: hashOf("one\n") };
  expect(await ws.fail("apply_patch", { patch, ...stale })).toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining("leave it out"),
    details: { actual: hashOf("a.txt") },
  });
  const { files } = await ws.ok("apply_patch", { patch, uri: "link", base_hash: hashOf("a.txt") });
  await ws.ok("apply_patch", {
    patch: part("link", LINK, "src", "empty"),
    files: [{ uri: "link", base_hash: files[0]!.hash! }],
  });
  expect(readlinkSync(at("link"))).toBe("empty");
});

const REFUSED: readonly [string, () => string, string][] = [
  ["leads outside", () => part("new", LINK, null, "../../etc"), "OUTSIDE_WORKSPACE"],
  ["leads to an absolute place", () => part("new", LINK, null, "/etc/passwd"), "OUTSIDE_WORKSPACE"],
  ["leads out and looks as if not", () => part("new", LINK, null, "src/../../x"), "PATCH_FAILED"],
  ["leads outside by another link", () => part("new", LINK, null, "away/x"), "OUTSIDE_WORKSPACE"],
  ["leads into .git", () => part("new", LINK, null, ".git/hooks"), "PROTECTED_PATH"],
  ["leads to a file that an agent obeys", () => part("new", LINK, null, "src/.mcp.json"), "PROTECTED_PATH"],
  ["is itself protected", () => part(".envrc", LINK, null, "a.txt"), "PROTECTED_PATH"],
  ["is below .git", () => part("src/.git/x", LINK, null, "a.txt"), "PROTECTED_PATH"],
  ["is outside", () => part("../new", LINK, null, "a.txt"), "OUTSIDE_WORKSPACE"],
  ["is led outside", () => part("link", LINK, "a.txt", "../x"), "OUTSIDE_WORKSPACE"],
  ["leads outside from its new place", () => renamed("away", "src/away"), "OUTSIDE_WORKSPACE"],
  ["lies behind a link", () => part("inside/new", LINK, null, "a.txt"), "PATCH_FAILED"],
  ["lies behind a link that leads outside", () => part("away/new", LINK, null, "x"), "OUTSIDE_WORKSPACE"],
  ["has nothing as its target", () => part("new", LINK, null, ""), "PATCH_FAILED"],
  ["is there already", () => part("link", LINK, null, "src"), "ALREADY_EXISTS"],
  ["takes the place of a folder", () => part("full", LINK, null, "src"), "ALREADY_EXISTS"],
  ["leads elsewhere by now", () => part("link", LINK, "b.txt", "src"), "PATCH_FAILED"],
  ["differs by a space", () => part("link", LINK, "a.txt ", "src"), "PATCH_FAILED"],
  ["is not shown", () => "diff --git a/link b/link\ndeleted file mode 120000\n", "PATCH_FAILED"],
  [
    "is shown in part",
    () => "diff --git a/link b/link\nindex 1..2 120000\n--- a/link\n+++ b/link\n@@ -0,0 +1 @@\n+src/\n",
    "PATCH_FAILED",
  ],
  [
    "is binary and not named by its full id",
    () => "diff --git a/link b/link\nindex 1..2 120000\nGIT binary patch\nliteral 4\nLcmZQzWMT#Y01f~L\n\n",
    "PATCH_FAILED",
  ],
  ["is a file by now", () => part("a.txt", LINK, "one", "src"), "PATCH_FAILED"],
  ["is gone", () => part("nothing", LINK, "one", "src"), "NOT_FOUND"],
  [
    "gets a file below it",
    () => part("new", LINK, null, "src") + part("new/x", FILE, null, "x"),
    "PATCH_FAILED",
  ],
  [
    "goes, and a file is made behind it",
    () => part("inside", LINK, "src", null) + part("inside/x", FILE, null, "x"),
    "PATCH_FAILED",
  ],
];

test.each(REFUSED)("a link that %s is refused before anything changes", async (_what, patch, code) => {
  const before = tree();
  const above = readdirSync(ws.base);
  const both = part("a.txt", FILE, "one", "two") + patch();
  expect((await ws.fail("apply_patch", { patch: both, files: A_TXT })).code).toBe(code);
  expect(tree()).toEqual(before);
  expect(readdirSync(ws.base)).toEqual(above);
});

test("a failing patch does not reveal a link target outside the workspace", async () => {
  const error = await ws.fail("apply_patch", { patch: part("away", LINK, "elsewhere", null) });
  expect(error.code).toBe("PATCH_FAILED");
  expect(JSON.stringify(error)).not.toContain("../..");
});

test("a diff for a regular file edits the target of a link, but not together with changes to links", async () => {
  const patch = part("link", FILE, "one", "two");
  await ws.ok("apply_patch", { patch, uri: "link", base_hash: hashOf("one\n") });
  expect(readFileSync(at("a.txt"), "utf8")).toBe("two\n");
  const files = [{ uri: "link", base_hash: hashOf("two\n") }];
  const both = part("link", FILE, "two", "three") + part("new", LINK, null, "a.txt");
  expect((await ws.fail("apply_patch", { patch: both, files })).code).toBe("PATCH_FAILED");
  expect([readFileSync(at("a.txt"), "utf8"), existsSync(at("new"))]).toEqual(["two\n", false]);
});

test("a dry run shows a link as git does, and its diff can be applied", async () => {
  const before = tree();
  const patch = part("link", LINK, "a.txt", "src") + part("new", LINK, null, "a.txt");
  const { diff, files } = await ws.ok("apply_patch", { patch, dry_run: true });
  expect(tree()).toEqual(before);
  expect(files).toMatchObject([{ kind: "symlink" }, { kind: "symlink", created: true }]);
  await ws.ok("apply_patch", { patch: diff! });
  expect(tree()).toEqual({ ...before, link: "-> src", new: "-> a.txt" });
});

test("an undo detects a retargeted link and a folder that is no longer empty", async () => {
  const linked = await ws.ok("apply_patch", { patch: part("new", LINK, null, "a.txt") });
  const folder = await ws.ok("apply_patch", { patch: part("module", SUBMODULE, null, ONE) });
  await ws.ok("apply_patch", { patch: part("new", LINK, "a.txt", "src") });
  writeFileSync(at("module/x"), "x");
  const before = tree();
  expect((await ws.fail("apply_patch", { patch: linked.undo! })).code).toBe("CONFLICT");
  expect((await ws.fail("apply_patch", { patch: folder.undo! })).code).toBe("CONFLICT");
  expect(tree()).toEqual(before);
});

test("submodule folders are created, and removed while empty, as git apply does; undo reverts it", async () => {
  const before = tree();
  const { files, undo } = await ws.ok("apply_patch", {
    files: A_TXT,
    patch: [
      part("libs/new", SUBMODULE, null, ONE),
      part("src", SUBMODULE, null, ONE),
      part("empty", SUBMODULE, ONE, null),
      part("full", SUBMODULE, ONE, TWO),
      part("a.txt", FILE, "one", null),
      part("a.txt", SUBMODULE, null, ONE),
    ].join(""),
  });
  const { empty: _empty, ...rest } = before;
  expect(tree()).toEqual({ ...rest, libs: "folder", "libs/new": "folder", "a.txt": "folder" });
  const module = { kind: "submodule", hash: null, match: "exact", hunks: [] };
  expect(files.filter(({ kind }) => kind)).toEqual([
    { uri: uriOf("libs/new"), ...module, created: true },
    { uri: uriOf("src"), ...module },
    { uri: uriOf("empty"), ...module, deleted: true },
    { uri: uriOf("full"), ...module },
    { uri: uriOf("a.txt"), ...module, created: true },
  ]);
  await ws.ok("apply_patch", { patch: undo! });
  expect(tree()).toEqual(before);
});

test("a submodule folder with content stays, whether it is deleted or renamed", async () => {
  const before = tree();
  const gone = await ws.ok("apply_patch", { patch: part("full", SUBMODULE, ONE, null) });
  expect(gone.files).toEqual([
    { uri: uriOf("full"), kind: "submodule", hash: null, match: "exact", hunks: [] },
  ]);
  expect(tree()).toEqual(before);
  const moved = await ws.ok("apply_patch", { patch: renamed("full", "module") + renamed("empty", "void") });
  expect(moved.files).toMatchObject([
    { uri: uriOf("module"), kind: "submodule", created: true, renamed_from: uriOf("full") },
    { uri: uriOf("void"), kind: "submodule", created: true, renamed_from: uriOf("empty") },
  ]);
  const { empty: _empty, ...rest } = before;
  expect(tree()).toEqual({ ...rest, module: "folder", void: "folder" });
});

test("a submodule whose files become the project's own keeps its folder", async () => {
  await ws.ok("apply_patch", {
    patch: part("empty", SUBMODULE, ONE, null) + part("empty/x", FILE, null, "x"),
  });
  expect(tree()).toMatchObject({ empty: "folder", "empty/x": "x\n" });
});

test.each([
  ["where nothing is", () => part("nothing", SUBMODULE, ONE, TWO), "NOT_FOUND"],
  ["where a file is", () => part("a.txt", SUBMODULE, ONE, TWO), "PATCH_FAILED"],
  ["made where a file is", () => part("a.txt", SUBMODULE, null, ONE), "ALREADY_EXISTS"],
  ["made below .git", () => part(".git/modules/x", SUBMODULE, null, ONE), "PROTECTED_PATH"],
  ["made outside", () => part("../x", SUBMODULE, null, ONE), "OUTSIDE_WORKSPACE"],
  ["made behind a link", () => part("inside/x", SUBMODULE, null, ONE), "PATCH_FAILED"],
])("a submodule %s is refused", async (_where, patch, code) => {
  const before = tree();
  expect((await ws.fail("apply_patch", { patch: patch() })).code).toBe(code);
  expect(tree()).toEqual(before);
});

test("a folder that is not a submodule is not renamed", async () => {
  writeFileSync(at("src/x"), "x");
  const before = tree();
  const base_hash = hashOf("");
  expect((await ws.fail("apply_patch", { patch: renamed("src", "lib"), base_hash })).code).toBe("NOT_A_FILE");
  expect(tree()).toEqual(before);
});
