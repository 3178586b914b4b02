import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { prepareLanceFolder, removeLanceFolder } from "./lance-folder.ts";

const isMissing = inject("missing").includes("@lancedb/lancedb");

test("copies of ended processes are removed; without LanceDB there is none, and the log says so", () => {
  const folder = mkdtempSync(join(tmpdir(), "octant-lance-"));
  const { pid: ended } = spawnSync("true");
  for (const pid of [ended, process.ppid]) mkdirSync(join(folder, `lance-${pid}`));
  const lines: string[] = [];
  const own = prepareLanceFolder(folder, (line) => lines.push(line));
  if (isMissing) {
    expect(own).toBeUndefined();
    expect(lines.join()).toContain("vectors are held in memory");
  } else {
    expect(own).toBe(join(folder, `lance-${process.pid}`));
    expect(existsSync(join(folder, `lance-${ended}`))).toBe(false);
    expect(existsSync(join(folder, `lance-${process.ppid}`))).toBe(true);
    mkdirSync(String(own));
    removeLanceFolder(folder);
    expect(existsSync(String(own))).toBe(false);
  }
  rmSync(folder, { recursive: true });
});
