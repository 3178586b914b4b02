import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git } from "../../testing/open-hub.ts";
import { describeLeftOver, STAGE_ALL } from "./left-over.ts";

const LONG = "x".repeat(60);

test.each<[readonly string[], string | undefined]>([
  [[], undefined],
  [["add.js"], "Uncommitted work: add.js"],
  [["add.js", "b c.txt"], "Uncommitted work: add.js, b c.txt"],
  [["add.js", LONG], "Uncommitted work: add.js, 1 other file"],
  [[LONG, "z.js"], "Uncommitted work: 2 files"],
  // Neither ends the subject nor begins an option.
  [["--all\nfix", "-n"], String.raw`Uncommitted work: "--all\nfix", -n`],
  [
    Array.from({ length: 30 }, (_, n) => `f${n}`.padEnd(3, "x")),
    "Uncommitted work: f0x, f10, f11, f12, f13, f14, f15, f16, 22 other files",
  ],
])("the commit of uncommitted files %s says what changed", (names, subject) => {
  const folder = mkdtempSync(join(tmpdir(), "octant-left-over-"));
  try {
    git(folder, "init", "-q");
    for (const name of names) writeFileSync(join(folder, name), "x\n");
    const staged = execFileSync("sh", ["-c", STAGE_ALL], { cwd: folder, encoding: "utf8" });
    expect(describeLeftOver(staged, "ses_1")?.split("\n")[0]).toBe(subject);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
