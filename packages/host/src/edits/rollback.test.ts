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

const intentionFor = (target: string, how: Step["how"], folders: string[] = []): Intention => ({
  isSet: true,
  steps: [{ target, kind: "file", how, before, mode: 0o644, after: null, temp, backup }],
  folders,
});

test.each([".git/hooks/pre-commit", "../outside/x"])("nothing is moved or removed at %s", async (name) => {
  const target = join(root, name);
  mkdirSync(dirname(target), { recursive: true });
  for (const left of [temp, backup]) writeFileSync(join(dirname(target), left), "old");
  const confinement = createConfinement([root]);
  const intention = intentionFor(target, "remove", [join(dirname(target), "empty")]);
  mkdirSync(join(dirname(target), "empty"));
  await rollBack(confinement, realDisk, intention);
  sweep(confinement, realDisk, intention);
  expect(readdirSync(dirname(target)).sort()).toEqual([temp, backup, "empty"].sort());
});

test.each(["remove", "overwrite"] as const)(
  "a link in a backup's place is not taken for it (%s)",
  async (how) => {
    writeFileSync(join(base, "outside"), "old");
    const target = join(root, "file");
    if (how === "overwrite") writeFileSync(target, "now");
    symlinkSync(join(base, "outside"), join(root, backup));
    await rollBack(createConfinement([root]), realDisk, intentionFor(target, how));
    expect(existsSync(target) ? readFileSync(target, "utf8") : undefined).toBe(
      how === "overwrite" ? "now" : undefined,
    );
    expect(readdirSync(base).sort()).toEqual(["outside", "ws"]);
  },
);
