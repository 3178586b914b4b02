import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pathToUri } from "../path.ts";
import { createWorkspace, type Workspace } from "../workspace.ts";
import { applyTextEdits, applyWorkspaceEdit } from "./workspace-edit.ts";

const signal = new AbortController().signal;
let base: string;
let root: string;
let workspace: Workspace;
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-edit-")));
  root = join(base, "project");
  mkdirSync(root);
  workspace = createWorkspace({
    roots: [root],
    env: { XDG_STATE_HOME: join(base, "state") },
    warn: () => {},
  });
});
afterAll(async () => {
  await workspace.close();
  rmSync(base, { recursive: true });
});

const sourceOf = (text: string) => ({ path: "/x", text, bytes: Buffer.from(text), hash: "sha256:0" });
/** A position as the protocol counts it. */
const positionAt = (text: string, offset: number) => {
  const lines = text.slice(0, offset).split(/\r\n|\n|\r/);
  return { line: lines.length - 1, character: lines.at(-1)!.length };
};

test("edits are applied at their positions in any order, and the rest is unchanged", () => {
  const Text = fc
    .array(fc.constantFrom("a", "b", "\n", "\r\n", "é", "😀", " "))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(Text, fc.array(fc.nat(), { maxLength: 6 }), (text, cuts) => {
      // Not in the middle of a line end or of a character.
      const borders = [...text.matchAll(/\r\n|./gsu), { index: text.length }].map(({ index }) => index);
      const at = [...new Set(cuts.map((cut) => borders[cut % borders.length]!))].sort((a, b) => a - b);
      const pairs = at.slice(0, at.length - (at.length % 2));
      const edits = [];
      let expected = text;
      for (let n = pairs.length - 2; n >= 0; n -= 2) {
        const [start, end] = [pairs[n]!, pairs[n + 1]!];
        expected = `${expected.slice(0, start)}[${n}]${expected.slice(end)}`;
        const range = { start: positionAt(text, start), end: positionAt(text, end) };
        edits.push({ range, newText: `[${n}]` });
      }
      expect(applyTextEdits(sourceOf(text), edits)).toBe(expected);
    }),
  );
});

const wordEdit = (uri: string) => ({
  changes: {
    [uri]: [{ range: { start: { line: 1, character: 2 }, end: { line: 1, character: 5 } }, newText: "new" }],
  },
});

test.each([
  ["line ends of Windows", Buffer.from("a\r\n  old\r\n"), Buffer.from("a\r\n  new\r\n")],
  ["a byte order mark", Buffer.from("\uFEFFa\n  old\n"), Buffer.from("\uFEFFa\n  new\n")],
  ["UTF-16", Buffer.from("\uFEFFa\n  old\n", "utf16le"), Buffer.from("\uFEFFa\n  new\n", "utf16le")],
  ["no newline at the end", Buffer.from("a\n  old"), Buffer.from("a\n  new")],
])("%s stays as it is", async (name, before, after) => {
  const file = join(root, `${name}.txt`);
  writeFileSync(file, before);
  const applied = await applyWorkspaceEdit(workspace, wordEdit(pathToUri(file)), { dryRun: false }, signal);
  expect(readFileSync(file)).toEqual(after);
  expect(applied?.undo).toMatch(/^blob:/);
});

test("a server with another version of the file changes nothing", async () => {
  const file = join(root, "stale.txt");
  writeFileSync(file, "a\n  xyz\n");
  const options = { dryRun: false, expected: "old" };
  await expect(
    applyWorkspaceEdit(workspace, wordEdit(pathToUri(file)), options, signal),
  ).rejects.toMatchObject({
    code: "CONFLICT",
  });
  expect(readFileSync(file, "utf8")).toBe("a\n  xyz\n");
});

test("an edit outside the workspace, and one that creates files, are refused", async () => {
  const outside = join(base, "outside.txt");
  writeFileSync(outside, "a\n  old\n");
  const dryRun = false;
  await expect(
    applyWorkspaceEdit(workspace, wordEdit(pathToUri(outside)), { dryRun }, signal),
  ).rejects.toMatchObject({ code: "OUTSIDE_WORKSPACE" });
  await expect(
    applyWorkspaceEdit(
      workspace,
      { documentChanges: [{ kind: "create", uri: "file:///new.ts" }] },
      { dryRun },
      signal,
    ),
  ).rejects.toMatchObject({ code: "UNSUPPORTED" });
});
