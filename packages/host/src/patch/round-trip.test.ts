import { isAscii, isUtf8 } from "node:buffer";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { ToolError } from "@octant/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { applyChange } from "./apply.ts";
import { parsePatch } from "./parse.ts";
import { unifiedDiff } from "./unified-diff.ts";

/** The number of random inputs, times a factor for what is cheap. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 30);

const WORDS = [
  "",
  "a",
  "b",
  "  indented",
  "\ttab",
  "é",
  "日本",
  "$&",
  "--- x",
  "+++ y",
  "@@ z",
  "-- ",
  "\\ No newline",
  "x\r",
  "\ufeffmark",
];

const line = fc.constantFrom(...WORDS).map((word) => Buffer.from(word));
const oddLine = fc.oneof(
  { weight: 6, arbitrary: line },
  fc.constantFrom(
    Buffer.of(0xe9),
    Buffer.of(0),
    Buffer.of(0x61, 0xff, 0x62),
    Buffer.of(0xef, 0xbb, 0xbf, 0x61),
  ),
);
const ending = fc.constantFrom("\n", "\n", "\r\n").map((eol) => Buffer.from(eol));

/** Lines with any endings, of which the last may have none. */
const fileOf = (content: fc.Arbitrary<Buffer>) =>
  fc
    .tuple(fc.array(fc.tuple(content, ending), { maxLength: 24 }), fc.boolean(), content)
    .map(([lines, open, last]) => Buffer.concat([...lines.flat(), ...(open ? [last] : [])]));

/** Two files that share most of their lines, like two states of one file. */
const pairOf = (content: fc.Arbitrary<Buffer>) =>
  fc
    .tuple(fileOf(content), fc.array(fc.tuple(fc.nat(24), fc.nat(3), fileOf(content)), { maxLength: 3 }))
    .map(([before, edits]) => {
      let after = before;
      for (const [at, length, inserted] of edits) {
        const lines = after.toString("latin1").split(/(?<=\n)/);
        lines.splice(at, length, inserted.toString("latin1"));
        after = Buffer.from(lines.join(""), "latin1");
      }
      return { before, after };
    });

const applyDiff = (before: Buffer, diff: string) => {
  const [change] = parsePatch(diff);
  return change ? applyChange(before, change).after : before;
};

test("a diff applied to the old bytes produces the new bytes", () => {
  fc.assert(
    fc.property(pairOf(oddLine), ({ before, after }) => {
      const diff = unifiedDiff({ path: "x", before, after });
      if (diff === "") expect(after.equals(before)).toBe(true);
      else expect(applyDiff(before, diff).toString("hex")).toBe(after.toString("hex"));
    }),
    { numRuns: 20 * RUNS },
  );
});

test("a diff of UTF-16 files is readable and produces the new bytes", () => {
  const toUtf16 = (utf8: Buffer, bigEndian: boolean) => {
    const bytes = Buffer.from(`\ufeff${utf8.toString()}`, "utf16le");
    return bigEndian ? bytes.swap16() : bytes;
  };
  fc.assert(
    fc.property(pairOf(line), fc.boolean(), (pair, bigEndian) => {
      const before = toUtf16(pair.before, bigEndian);
      const after = toUtf16(pair.after, bigEndian);
      const diff = unifiedDiff({ path: "x", before, after });
      expect(diff).not.toContain("GIT binary patch");
      if (diff !== "") expect(applyDiff(before, diff).toString("hex")).toBe(after.toString("hex"));
    }),
    { numRuns: 3 * RUNS },
  );
});

test("a diff still applies when lines were inserted before and after its position", () => {
  const body = Array.from({ length: 30 }, (_, i) => `line ${i}\n`);
  fc.assert(
    fc.property(fc.nat(29), fc.nat(50), fc.nat(50), (changed, above, below) => {
      const before = Buffer.from(body.join(""));
      const after = Buffer.from(body.with(changed, "changed\n").join(""));
      const diff = unifiedDiff({ path: "x", before, after });
      const around = (middle: Buffer) =>
        Buffer.concat([Buffer.from("above\n".repeat(above)), middle, Buffer.from("below\n".repeat(below))]);
      expect(applyDiff(around(before), diff).toString()).toBe(around(after).toString());
    }),
    { numRuns: 3 * RUNS },
  );
});

test("any text of a patch is parsed or refused with a typed error", () => {
  const pieces = [
    "diff --git a/x b/x\n",
    'diff --git "a/\\303" b/x\n',
    "new file mode 100644\n",
    "deleted file mode 100644\n",
    "old mode 100644\n",
    "new mode 100755\n",
    "rename from x\n",
    "rename to y\n",
    "copy from x\n",
    "index 1..2 100644\n",
    "--- a/x\n",
    "+++ b/x\n",
    "--- /dev/null\n",
    "+++ /dev/null\n",
    "@@ -1,2 +1,2 @@\n",
    "@@\n",
    "@@ foo\n",
    "@@ -0,0 +1 @@\n",
    " a\n",
    "-b\n",
    "+c\n",
    "\n",
    "\\ No newline at end of file\n",
    "GIT binary patch\n",
    "literal 3\n",
    "delta 4\n",
    "KcmZQzU|?Vb0RR91\n",
    "-- \n",
    "2.39\n",
    "*** Begin Patch\n",
    "*** End Patch\n",
    "*** Update File: x\n",
    "*** Add File: y\n",
    "*** Delete File: z\n",
    "*** Move to: w\n",
    "*** End of File\n",
    "prose\r\n",
    "a",
    "\0",
    "\ufeff",
  ];
  const patch = fc.oneof(
    fc.array(fc.constantFrom(...pieces), { maxLength: 20 }).map((parts) => parts.join("")),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(patch, fileOf(oddLine), fc.boolean(), (text, before, withTarget) => {
      try {
        for (const change of parsePatch(text, withTarget ? "target" : undefined)) applyChange(before, change);
      } catch (error) {
        expect(error).toBeInstanceOf(ToolError);
      }
    }),
    { numRuns: 20 * RUNS },
  );
});

test("a git diff with one changed byte is parsed or refused with a typed error", () => {
  const before = Buffer.from("a\nb\nc\n\0".repeat(30));
  const after = Buffer.from("a\nB\nc\n\0".repeat(40));
  const diffs = [
    unifiedDiff({ path: "x", before, after }),
    unifiedDiff({ path: "é\n", before: null, after: Buffer.from("a\nb") }),
  ];
  fc.assert(
    fc.property(fc.constantFrom(...diffs), fc.nat(), fc.string({ maxLength: 2 }), (diff, at, replacement) => {
      const mutated = diff.slice(0, at % diff.length) + replacement + diff.slice((at % diff.length) + 1);
      try {
        for (const change of parsePatch(mutated, "target")) applyChange(before, change);
      } catch (error) {
        expect(error).toBeInstanceOf(ToolError);
      }
    }),
    { numRuns: 10 * RUNS },
  );
});

test("structured edits in any order and position produce the text or are refused", () => {
  const edit = fc.oneof(
    fc.record({
      op: fc.constant("replace" as const),
      old: fc.constantFrom("a", "b\n", "é", "\n", "  indented"),
      new: fc.constantFrom(...WORDS),
      count: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    }),
    fc.record({
      op: fc.constant("insert" as const),
      line: fc.nat(12),
      text: fc.constantFrom("x", "x\ny\n", "\n"),
    }),
    fc.record({
      op: fc.constant("delete" as const),
      range: fc.record({
        start: fc.record({ line: fc.nat(8), col: fc.nat(3) }),
        end: fc.record({ line: fc.nat(8), col: fc.nat(3) }),
      }),
    }),
  );
  fc.assert(
    fc.property(fileOf(oddLine), fc.array(edit, { minLength: 1, maxLength: 3 }), (before, edits) => {
      try {
        const { after, hunks } = applyChange(before, parsePatch(edits, "x")[0]!);
        const lineCount = (bytes: Buffer) => bytes.toString("latin1").split("\n").length - 1;
        expect(hunks.length).toBeGreaterThanOrEqual(edits.length);
        expect(lineCount(after)).toBeLessThanOrEqual(lineCount(before) + 2 * edits.length * 4);
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
      }
    }),
    { numRuns: 10 * RUNS },
  );
});

/** Each takes three runs of git. */
const GIT_ROUNDS = Number(process.env["FUZZ_RUNS"] ?? 10);

test("git's diffs apply like git applies them, and git applies ours", { timeout: 120_000 }, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "octant-git-"));
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, maxBuffer: 1 << 26 });
  try {
    git("init", "-q");
    git("config", "core.autocrlf", "false");
    for (const { before, after } of fc.sample(pairOf(oddLine), GIT_ROUNDS)) {
      if (after.equals(before)) continue;
      fs.writeFileSync(path.join(folder, "file x"), before);
      git("add", "file x");
      fs.writeFileSync(path.join(folder, "file x"), after);
      const theirs = git("diff", "--binary", "--no-ext-diff");
      // A patch is text: raw bytes of git that are not UTF-8 cannot reach us, and in a file that is not UTF-8 we write
      // its letters in the file's encoding.
      if (isUtf8(theirs) && (isUtf8(before) || isAscii(theirs))) {
        expect(applyDiff(before, theirs.toString()).toString("hex")).toBe(after.toString("hex"));
      }
      fs.writeFileSync(path.join(folder, "file x"), before);
      fs.writeFileSync(path.join(folder, "ours.patch"), unifiedDiff({ path: "file x", before, after }));
      git("apply", "--whitespace=nowarn", "ours.patch");
      expect(fs.readFileSync(path.join(folder, "file x")).toString("hex")).toBe(after.toString("hex"));
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
});

test("git's binary deltas apply", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "octant-git-"));
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder });
  try {
    const before = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * i) >> 7));
    const after = Buffer.concat([before.subarray(70_000), Buffer.from("new\0"), before.subarray(0, 90_000)]);
    git("init", "-q");
    fs.writeFileSync(path.join(folder, "x"), before);
    git("add", "x");
    fs.writeFileSync(path.join(folder, "x"), after);
    const diff = git("diff", "--binary").toString();
    expect(diff).toMatch(/^delta /m);
    expect(applyDiff(before, diff).equals(after)).toBe(true);
    expect(() => applyDiff(before.subarray(1), diff)).toThrow(ToolError);
    expect(() => applyDiff(before.subarray(1), diff.replace(/^index .*$/m, ""))).toThrow(ToolError);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
});

test("git creates, renames, removes and changes modes of files from our diffs", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "octant-git-"));
  const file = (name: string) => path.join(folder, name);
  try {
    execFileSync("git", ["init", "-q"], { cwd: folder });
    const text = Buffer.from("one\ntwo\nthree\n");
    fs.writeFileSync(file("old name"), text, { mode: 0o644 });
    fs.writeFileSync(file("gone"), text);
    const diff = [
      unifiedDiff({ path: 'new "é"\t', before: null, after: Buffer.from("x"), newMode: 0o755 }),
      unifiedDiff({ path: "empty", before: null, after: Buffer.alloc(0) }),
      unifiedDiff({ path: "picture", before: null, after: Buffer.of(0, 1, 2) }),
      unifiedDiff({
        path: "old name",
        before: text,
        after: Buffer.from("one\n2\nthree\n"),
        oldMode: 0o644,
        newMode: 0o755,
      }),
      unifiedDiff({ path: "gone", before: text, after: null }),
    ].join("");
    execFileSync("git", ["apply", "-"], { cwd: folder, input: diff });
    expect(fs.readdirSync(folder).filter((name) => name !== ".git")).toEqual([
      "empty",
      'new "é"\t',
      "old name",
      "picture",
    ]);
    expect(fs.readFileSync(file("old name"), "utf8")).toBe("one\n2\nthree\n");
    expect(fs.statSync(file("old name")).mode & 0o100).toBe(0o100);
    expect([...fs.readFileSync(file("picture"))]).toEqual([0, 1, 2]);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
