import { mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createSeenFiles } from "./seen-files.ts";

const folder = mkdtempSync(join(tmpdir(), "octant-seen-"));
afterAll(() => rmSync(folder, { recursive: true }));
const later = () => Date.now() + 10_000;

/** A file that was read as "one". */
function seeFile(name: string, now = later) {
  const path = join(folder, name);
  writeFileSync(path, "one");
  const seen = createSeenFiles(now);
  seen.look(path)("hash of one");
  return { path, seen };
}

test("an unchanged file is known by the hash that it had", () => {
  const { path, seen } = seeFile("same");
  expect(seen.isStill(path, "hash of one")).toBe(true);
  expect(seen.isStill(path, "another hash")).toBe(false);
  expect(seen.isStill(join(folder, "never seen"), "hash of one")).toBe(false);
});

const CHANGES: readonly (readonly [string, (path: string) => void])[] = [
  ["longer", (path) => writeFileSync(path, "longer")],
  [
    "of the same size and with its old mtime",
    (path) => {
      const { atime, mtime } = statSync(path);
      writeFileSync(path, "two");
      utimesSync(path, atime, mtime);
    },
  ],
  [
    "replaced",
    (path) => {
      writeFileSync(`${path}.new`, "one");
      renameSync(`${path}.new`, path);
    },
  ],
  ["gone", (path) => rmSync(path)],
];

test.each(CHANGES)("a file that is now %s must be read again", (name, change) => {
  const { path, seen } = seeFile(name);
  change(path);
  expect(seen.isStill(path, "hash of one")).toBe(false);
});

test("a file that was changed a moment before is not remembered: another change may not show", () => {
  const { path, seen } = seeFile("fresh", Date.now);
  expect(seen.isStill(path, "hash of one")).toBe(false);
});
