import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MAX_PATCH_LINES } from "../patch/parse.ts";

const PROCESS = fileURLToPath(new URL("../../testing/edits/large-patch-process.ts", import.meta.url));

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "octant-large-patch-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function apply(lines: number): { code: string; longest_ms: number; grown_mb: number } {
  const root = mkdtempSync(join(base, "root-"));
  const stdout = execFileSync(process.execPath, [PROCESS, join(base, "state"), root, `${lines}`]);
  const done = JSON.parse(stdout.toString());
  if (done.code === "applied") expect(readFileSync(join(root, "large.txt")).length).toBe(lines);
  return done;
}

// Lines of one byte cost most: 15 MB of them took 2 GB and more than 5 s of CPU time in one turn.
test("a patch of 15 MB is refused before it is parsed", () => {
  const { code, longest_ms, grown_mb } = apply(7_500_000);
  expect(code).toBe("TOO_LARGE");
  expect(longest_ms).toBeLessThan(800);
  expect(grown_mb).toBeLessThan(150);
});

test("the longest patch is applied in little memory and without a long turn", () => {
  const { code, longest_ms, grown_mb } = apply(MAX_PATCH_LINES - 10);
  expect(code).toBe("applied");
  expect(longest_ms).toBeLessThan(800);
  expect(grown_mb).toBeLessThan(150);
});
