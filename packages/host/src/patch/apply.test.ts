import { ToolError } from "@octant/core";
import { expect, test } from "vitest";
import { applyChange } from "./apply.ts";
import { StructuredEdit } from "./change.ts";
import { parsePatch } from "./parse.ts";

const apply = (before: string, patch: Parameters<typeof parsePatch>[0]) =>
  applyChange(Buffer.from(before), parsePatch(patch, "x")[0]!);

const failureOf = (work: () => unknown): ToolError => {
  try {
    work();
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  throw new Error("it did not fail");
};

test("each hunk is reported at its position in the new file", () => {
  const patch = "@@ -1,2 +1,4 @@\n a\n+1\n+2\n b\n@@ -4,2 +6 @@\n d\n-e\n";
  expect(apply("a\nb\nc\nd\ne\n", patch).hunks).toEqual([
    { line: 0, added: 2, removed: 0, offset: 0 },
    { line: 5, added: 0, removed: 1, offset: 0 },
  ]);
});

test("each structured edit is reported in whole lines, in file order", () => {
  const { hunks } = apply("a\nb\nc\nd", [
    { op: "insert", line: 4, text: "e" },
    { op: "replace", old: "b", new: "1\n2" },
    { op: "insert", line: 0, text: "0\n" },
    { op: "delete", range: { start: { line: 2, col: 0 }, end: { line: 3, col: 0 } } },
  ]);
  expect(hunks).toEqual([
    { line: 0, added: 1, removed: 0, offset: 0 },
    { line: 2, added: 2, removed: 1, offset: 0 },
    { line: 4, added: 0, removed: 1, offset: 0 },
    { line: 4, added: 2, removed: 1, offset: 0 },
  ]);
});

test.each([
  ["     2\ttwo\n     3\tthree", "     2\tTWO\n     3\tthree", "one\nTWO\nthree\n4: four\n"],
  ["2→two\n3→three\n", "TWO\nTHREE\n", "one\nTWO\nTHREE\n4: four\n"],
  ["2| two", "TWO", "one\nTWO\nthree\n4: four\n"],
  // The file has it as it is.
  ["4: four", "4: FOUR", "one\ntwo\nthree\n4: FOUR\n"],
] as const)("text that was copied with its line numbers, %j, is found without them", (old, text, after) => {
  const applied = apply("one\ntwo\nthree\n4: four\n", [{ op: "replace", old, new: text }]);
  expect(applied.after.toString()).toBe(after);
});

test.each([
  ["2\ttwo\n9\tthree", "x"],
  ["2\ttwo\nthree", "x"],
  ["2\ttwo", "2\tTWO\nmore"],
])("numbers that are no line numbers for sure stay: %j to %j", (old, text) => {
  expect(failureOf(() => apply("one\ntwo\nthree\n", [{ op: "replace", old, new: text }])).code).toBe(
    "PATCH_FAILED",
  );
});

test("a failed hunk is named with the nearest lines of the file", () => {
  const failure = failureOf(() =>
    apply("one\ntwo\nthree\n", "@@ -1 +1 @@\n-one\n+1\n@@ -2,2 +2,2 @@\n-tvo\n+2\n three\n"),
  );
  expect(failure.details).toEqual({ hunk: 2, line: 1, candidates: [{ line: 1, text: "two" }] });
});

test("candidates are shown in the file's encoding and cut to a readable length", () => {
  const failure = failureOf(() =>
    apply(`é${"x".repeat(5_000)}\né${"x".repeat(5_000)}\n`, `@@\n-é${"x".repeat(5_000)}\n+y\n`),
  );
  expect(failure.details).toMatchObject({ candidates: [{ line: 0 }, { line: 1 }] });
  expect(JSON.stringify(failure.details)).toMatch(/"éx{100,199}"/);
});

test("an invalid patch names its line", () => {
  const failure = failureOf(() => parsePatch("@@ -1,3 +1,3 @@\n a\nb\n", "x"));
  expect(failure).toMatchObject({ code: "PATCH_FAILED", details: { line: 2 } });
  expect(failure.message).toContain("line 3 of the patch");
});

test("hunks and edits without a file need a target", () => {
  expect(failureOf(() => parsePatch("@@ -1 +1 @@\n-a\n+b\n")).code).toBe("PATCH_FAILED");
  expect(failureOf(() => parsePatch([{ op: "insert", line: 0, text: "a" }])).code).toBe("INVALID_ARGUMENT");
});

test("edits with unknown or missing parameters are invalid", () => {
  const accepted = (edit: unknown) => StructuredEdit.safeParse(edit).success;
  expect(accepted({ op: "replace", old: "a", new: "", count: 2 })).toBe(true);
  expect(accepted({ op: "replace", old: "", new: "b" })).toBe(false);
  expect(accepted({ op: "replace", old: "a", new: "b", all: true })).toBe(false);
  expect(accepted({ op: "insert", line: -1, text: "a" })).toBe(false);
  expect(accepted({ op: "append", text: "a" })).toBe(false);
});
