import { expect, test } from "vitest";
import { applyChange } from "./apply.ts";
import { encodeName } from "./git-name.ts";
import { parsePatch } from "./parse.ts";
import { unifiedDiff } from "./unified-diff.ts";

const lines = (count: number, changed: Readonly<Record<number, string>> = {}) =>
  Buffer.from(Array.from({ length: count }, (_, i) => `${changed[i] ?? i}\n`).join(""));

test("changes near each other share a hunk, others do not", () => {
  const diff = unifiedDiff({
    path: "x",
    before: lines(40),
    after: lines(40, { 5: "five", 12: "twelve", 30: "thirty" }),
  });
  expect(diff.match(/^@@.*$/gm)).toEqual(["@@ -3,14 +3,14 @@", "@@ -28,7 +28,7 @@"]);
});

test("a diff looks like git's", () => {
  const diff = unifiedDiff({ path: "a b", before: Buffer.from("1\n2"), after: Buffer.from("1\nzwei\n") });
  expect(diff).toBe(
    "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+zwei\n",
  );
});

test("a mode that includes the file type is the same mode", () => {
  const [before, after] = [Buffer.from("a\n"), Buffer.from("b\n")];
  expect(unifiedDiff({ path: "f", before, after, oldMode: 0o100644, newMode: 0o644 })).not.toContain("mode");
});

test("no changes produce no diff", () => {
  expect(unifiedDiff({ path: "x", before: lines(3), after: lines(3), oldMode: 0o644, newMode: 0o644 })).toBe(
    "",
  );
});

test("creates, deletes and mode changes have git's headers, which parse back", () => {
  const read = (options: Partial<Parameters<typeof unifiedDiff>[0]>) =>
    parsePatch(unifiedDiff({ path: "x", before: lines(2), after: lines(2), ...options }))[0];
  expect(read({ before: null, newMode: 0o755 })).toMatchObject({ kind: "create", path: "x", mode: 0o755 });
  expect(read({ before: null, after: Buffer.alloc(0) })).toMatchObject({
    kind: "create",
    path: "x",
    mode: 0o644,
  });
  expect(read({ after: null })).toMatchObject({ kind: "delete", path: "x" });
  expect(read({ oldMode: 0o644, newMode: 0o600 })).toMatchObject({ kind: "update", path: "x", mode: 0o600 });
});

test("a created, deleted or retargeted link parses back as a link", () => {
  const read = (before: string | null, after: string | null) =>
    parsePatch(
      unifiedDiff({
        path: "l",
        before: before === null ? null : Buffer.from(before, "latin1"),
        after: after === null ? null : Buffer.from(after, "latin1"),
        link: true,
        oldMode: 0o777,
        newMode: 0o777,
      }),
    )[0];
  expect(read(null, "a")).toMatchObject({ kind: "create", type: "link" });
  expect(read("a", null)).toMatchObject({ kind: "delete", type: "link" });
  expect(read("a", "b")).toMatchObject({ kind: "update", type: "link", edits: { form: "hunks" } });
  expect(read("a", "\xff")).toMatchObject({ kind: "update", type: "link", edits: { form: "binary" } });
});

test("any valid file name parses back", () => {
  for (const path of [
    "a b",
    "b/b b/b",
    'quo"te',
    "back\\slash",
    "tab\t",
    "new\nline",
    "é",
    "caf\udce9",
    "a/a/x",
  ]) {
    const diff = unifiedDiff({ path, before: lines(1), after: lines(2) });
    expect(diff.isWellFormed()).toBe(true);
    expect(parsePatch(diff)[0]!.path).toBe(path);
    const [a, b] = [encodeName(path), encodeName(`${path}2`)];
    const renamed = `diff --git a/x b/y\nrename from ${a}\nrename to ${b}\n`;
    expect(parsePatch(renamed)[0]).toMatchObject({ path, newPath: `${path}2` });
  }
});

test("a Latin-1 file has a readable diff as long as the changed lines are ASCII", () => {
  const before = Buffer.concat([Buffer.from("\xe9\n", "latin1"), lines(20)]);
  const after = Buffer.concat([Buffer.from("\xe9\n", "latin1"), lines(20, { 15: "x" })]);
  expect(unifiedDiff({ path: "x", before, after })).toContain("\n-15\n+x\n");
});

test("binary content is written in full or only mentioned", () => {
  const options = { path: "x", before: Buffer.of(0, 1), after: Buffer.of(0, 2) };
  expect(unifiedDiff(options)).toContain("GIT binary patch\nliteral 2\n");
  expect(unifiedDiff({ ...options, binary: "summary" })).toBe(
    "diff --git a/x b/x\nBinary files a/x and b/x differ\n",
  );
});

test("files with little in common get one hunk that replaces the difference", () => {
  const before = lines(30_000);
  const after = Buffer.from(before.toString().replace(/\d(?=\n)/g, "$&x"));
  const diff = unifiedDiff({ path: "x", before, after });
  expect(diff.match(/^@@/gm)).toHaveLength(1);
  expect(applyChange(before, parsePatch(diff)[0]!).after.equals(after)).toBe(true);
});
