import { createTwoFilesPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { editsToRows, isDiff, parseDiff } from "./rows.ts";

test("a git diff of several files has names, notes, counts and line numbers", () => {
  const files = parseDiff(`diff --git a/src/add.ts b/src/add.ts
index 1..2 100644
--- a/src/add.ts
+++ b/src/add.ts
@@ -1,3 +1,4 @@ export
-export const add = (a: any, b: any) => a + b;
+export const add = (a: number, b: number) => a + b;
 
+const zero = 0;
 last
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/a.md b/b.md
similarity index 100%
rename from a.md
rename to b.md
`);
  expect(files.map(({ path, note, added, removed }) => ({ path, note, added, removed }))).toEqual([
    { path: "src/add.ts", note: undefined, added: 2, removed: 1 },
    { path: "old.txt", note: "deleted", added: 0, removed: 1 },
    { path: "b.md", note: "renamed from a.md", added: 0, removed: 0 },
  ]);
  expect(files[0]?.rows.slice(0, 5)).toEqual([
    { kind: "gap", text: "export" },
    { kind: "removed", old: 1, text: "export const add = (a: any, b: any) => a + b;", changed: [23, 34] },
    { kind: "added", new: 1, text: "export const add = (a: number, b: number) => a + b;", changed: [23, 40] },
    { kind: "same", old: 2, new: 2, text: "" },
    { kind: "added", new: 3, text: "const zero = 0;" },
  ]);
});

test("the Begin Patch form is read, too", () => {
  const [file] = parseDiff("*** Begin Patch\n*** Update File: a.ts\n@@ fn\n-old\n+new\n*** End Patch");
  expect(file).toMatchObject({ path: "a.ts", added: 1, removed: 1 });
});

test("the preview of a new file has only added lines", () => {
  expect(isDiff("+++ note.md\n+# A\n+\n")).toBe(true);
  expect(parseDiff("+++ note.md\n+# A\n+b")).toMatchObject([{ path: "note.md", note: "new file", added: 2 }]);
  expect(isDiff("+++ note.md\n+# A\nrm -rf")).toBe(false);
});

test("structured edits become rows", () => {
  expect(editsToRows([{ op: "replace", old: "a\nb", new: "c" }])).toEqual([
    { kind: "gap", text: "edit 1: replace" },
    { kind: "removed", text: "a" },
    { kind: "removed", text: "b" },
    { kind: "added", text: "c" },
  ]);
});

const LINES = fc.array(fc.constantFrom("a", "b", "c", "", "-- x", "++ y", "  z"), { maxLength: 12 });

test("rows of a real diff rebuild both sides of every hunk, and their numbers are the lines' own", () => {
  fc.assert(
    fc.property(LINES, LINES, (before, after) => {
      fc.pre(before.join("\n") !== after.join("\n"));
      const [old, fresh] = [before, after].map((lines) => lines.map((line) => `${line}\n`).join(""));
      const patch = createTwoFilesPatch("a/f", "b/f", old!, fresh!, undefined, undefined, { context: 100 });
      const [file] = parseDiff(patch);
      expect(isDiff(patch)).toBe(true);
      const side = (kinds: string[], number: "old" | "new") =>
        file!.rows.filter(({ kind }) => kinds.includes(kind)).map((row) => [row[number], row.text]);
      const numbered = (lines: string[]) => lines.map((line, i) => [i + 1, line]);
      expect(side(["same", "removed"], "old")).toEqual(numbered(before));
      expect(side(["same", "added"], "new")).toEqual(numbered(after));
    }),
  );
});

test("any text is read without an error", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.constantFrom(
          "--- a",
          "+++ b",
          "@@ -1 +1 @@",
          "@@",
          "+x",
          "-y",
          " z",
          "diff --git a b",
          "*** Add File: q",
          "\\ No newline",
        ),
      ),
      (lines) => {
        parseDiff(lines.join("\n"));
      },
    ),
  );
});
