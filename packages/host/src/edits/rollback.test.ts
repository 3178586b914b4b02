import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createConfinement } from "../confinement.ts";
import { hashOf } from "../hashes.ts";
import { realDisk } from "./disk.ts";
import type { Intention, Step } from "./journal.ts";
import { rollBack, sweep } from "./rollback.ts";
import { newTempName } from "./temp-name.ts";

let base: string;
let root: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-rollback-")));
  root = join(base, "ws");
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const temp = newTempName();
const backup = newTempName();
const before = hashOf(Buffer.from("old"));
const blobs = { get: () => Buffer.from("old") };
const partsFor = (folder: string) => ({ confinement: createConfinement([folder]), disk: realDisk, blobs });

const intentionFor = (target: string, how: Step["how"], folders: string[] = []): Intention => ({
  isSet: true,
  steps: [{ target, kind: "file", how, before, mode: 0o644, after: null, temp, backup }],
  folders,
});

test.each([".git/hooks/pre-commit", "../outside/x"])("nothing is moved or removed at %s", async (name) => {
  const target = join(root, name);
  mkdirSync(dirname(target), { recursive: true });
  for (const left of [temp, backup]) writeFileSync(join(dirname(target), left), "old");
  const intention = intentionFor(target, "remove", [join(dirname(target), "empty")]);
  mkdirSync(join(dirname(target), "empty"));
  const parts = partsFor(root);
  await rollBack(parts, { intention, begun: new Set() });
  sweep(parts, intention);
  expect(readdirSync(dirname(target)).sort()).toEqual([temp, backup, "empty"].sort());
});

test("a link in a backup's place is not taken for it", async () => {
  writeFileSync(join(base, "outside"), "old");
  const target = join(root, "file");
  symlinkSync(join(base, "outside"), join(root, backup));
  const intention = intentionFor(target, "remove");
  await rollBack(partsFor(root), { intention, begun: new Set() });
  expect(existsSync(target)).toBe(false);
  expect(readdirSync(base).sort()).toEqual(["outside", "ws"]);
});

test.each([
  ["torn by the edit", [0], "old"],
  ["written by somebody else before the edit began to overwrite it", [], "now"],
] as const)("a file that was %s is afterwards '%s'", async (_, begun, content) => {
  const target = join(root, "file");
  writeFileSync(target, "now");
  const intention = intentionFor(target, "overwrite");
  expect(await rollBack(partsFor(root), { intention, begun: new Set(begun) })).toEqual([]);
  expect(readFileSync(target, "utf8")).toBe(content);
});

test("a step that cannot be taken back hinders no other, and is named", async () => {
  const [gone, kept] = [join(root, "gone"), join(root, "kept")];
  writeFileSync(kept, "now");
  const intention = {
    isSet: true,
    steps: [gone, kept].flatMap((target) => intentionFor(target, "overwrite").steps),
    folders: [],
  };
  writeFileSync(gone, "now");
  const disk: typeof realDisk = {
    ...realDisk,
    openSync: ((path: string, ...rest: [number]) => {
      if (String(path).endsWith("kept"))
        throw Object.assign(new Error("EPERM"), { code: "EPERM", errno: -1 });
      return realDisk.openSync(path, ...rest);
    }) as typeof realDisk.openSync,
  };
  const failures = await rollBack({ ...partsFor(root), disk }, { intention, begun: new Set([0, 1]) });
  expect(failures.map(({ step }) => step.target)).toEqual([kept]);
  expect(readFileSync(gone, "utf8")).toBe("old");
});
