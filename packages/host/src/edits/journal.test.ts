import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createJournal, type Intention } from "./journal.ts";
import { createSeal } from "./seal.ts";
import { newTempName } from "./temp-name.ts";

/** Thousands of syncs are waited for here; in memory they cost nothing. */
const MEMORY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

let folder: string;
let file: string;
let warnings: string[];

beforeEach(() => {
  folder = mkdtempSync(join(MEMORY, "octant-journal-"));
  file = join(folder, "journal");
  warnings = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const sealOf = createSeal(() => Buffer.alloc(32, 1));
const open = () => createJournal({ file, roots: ["/ws"], sealOf, warn: (message) => warnings.push(message) });

const INTENTION: Intention = {
  isSet: true,
  steps: [
    {
      target: "/ws/ä\udcff\u2028.txt",
      kind: "file",
      how: "replace",
      before: `sha256:${"a".repeat(64)}`,
      mode: 0o644,
      after: `sha256:${"b".repeat(64)}`,
      temp: newTempName(),
      backup: newTempName(),
    },
  ],
  folders: ["/ws/new"],
};

/** The bytes of a journal whose process died before, or after, the commit. */
function written(committed: boolean): Buffer {
  const journal = open();
  journal.begin(INTENTION, { durable: true });
  if (committed) journal.commit();
  journal.close();
  return readFileSync(file);
}

const pendingIn = (bytes: Uint8Array) => {
  writeFileSync(file, bytes);
  const journal = open();
  const pending = journal.pending();
  journal.close();
  return pending;
};

test("a journal that is not there, or was cleared, has nothing pending", () => {
  const journal = open();
  expect(journal.pending()).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
  journal.begin(INTENTION, { durable: false });
  journal.clear();
  expect(journal.pending()).toBeUndefined();
  journal.close();
});

test.each([false, true])("a begun transaction is found by the next process (committed: %s)", (committed) => {
  expect(pendingIn(written(committed))).toEqual({ intention: INTENTION, begun: new Set(), committed });
});

test("a record that was cut at any byte is never acted upon, unless all of it is there", () => {
  const bytes = written(true);
  const recordLength = bytes.indexOf("\n") + 1;
  for (let length = 1; length < bytes.length; length++) {
    const pending = pendingIn(bytes.subarray(0, length));
    if (length < recordLength) expect(pending, `cut at ${length}`).toBeUndefined();
    else
      expect(pending).toEqual({ intention: INTENTION, begun: new Set(), committed: length > recordLength });
  }
});

test("the steps that were being overwritten are known; a torn line about one is not", () => {
  const journal = open();
  journal.begin(INTENTION, { durable: true });
  journal.overwriting(0);
  journal.overwriting(12);
  const bytes = readFileSync(file);
  expect(pendingIn(bytes)).toMatchObject({ begun: new Set([0, 12]), committed: false });
  expect(pendingIn(bytes.subarray(0, -1))).toMatchObject({ begun: new Set([0]), committed: false });
  writeFileSync(file, bytes);
  journal.commit();
  journal.close();
  expect(pendingIn(readFileSync(file))).toMatchObject({ begun: new Set([0, 12]), committed: true });
});

test("every flipped bit in a record is detected; the record is set aside and a warning says where", () => {
  const bytes = written(false);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const damaged = Buffer.from(bytes);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    expect(pendingIn(damaged), `bit ${bit}`).toBeUndefined();
  }
  expect(warnings).toHaveLength(bytes.length * 8);
  const kept = readdirSync(folder).filter((name) => name.startsWith("journal.damaged-"));
  expect(kept.length).toBeGreaterThan(0);
  expect(readFileSync(file)).toHaveLength(0);
});

test("a record with the seal of another workspace is not acted upon", () => {
  const other = createSeal(() => Buffer.alloc(32, 2));
  const journal = createJournal({ file, roots: ["/ws"], sealOf: other, warn: () => {} });
  journal.begin(INTENTION, { durable: false });
  journal.close();
  expect(pendingIn(readFileSync(file))).toBeUndefined();
  expect(warnings).toHaveLength(1);
});

test("a record of a newer version is reported and set aside as unfinished; one without a version is read", () => {
  const recordOf = (version: object) => {
    const body = JSON.stringify({ ...version, ...INTENTION });
    return Buffer.from(`${sealOf(`*** Octant Journal\n${body}`).toString("hex")} ${body}\n`);
  };
  expect(pendingIn(recordOf({}))?.intention).toMatchObject(INTENTION);
  expect(pendingIn(recordOf({ version: 2, more: true }))).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining("a newer version of Octant")]);
  expect(open().givenUp()).toEqual(warnings);
  expect(written(false).toString()).toContain('{"version":1,');
});

const STEP = INTENTION.steps[0]!;
const withStep = (step: object) => JSON.stringify({ ...INTENTION, steps: [{ ...STEP, ...step }] });

test.each([
  ["no JSON", "{"],
  ["another shape", "[]"],
  ["a temporary name that leads elsewhere", withStep({ temp: "../../etc" })],
  ["a temporary name that is somebody's file", withStep({ backup: "main.ts" })],
  ["a temporary name with more behind it", withStep({ temp: `${newTempName()}/x` })],
  ["a target outside", withStep({ target: "/etc/passwd" })],
  ["a target that leads outside", withStep({ target: "/ws/../etc/passwd" })],
  ["a root as target", withStep({ target: "/ws" })],
  ["a relative target", withStep({ target: "x" })],
  ["a protected target", withStep({ target: "/ws/.git/hooks/pre-commit" })],
  ["a folder outside", JSON.stringify({ ...INTENTION, folders: ["/etc"] })],
  ["a protected folder", JSON.stringify({ ...INTENTION, folders: ["/ws/.git/hooks"] })],
])("even with the right seal, a record with %s is set aside, once", (_, body) => {
  const seal = sealOf(`*** Octant Journal\n${body}`).toString("hex");
  expect(pendingIn(Buffer.from(`${seal} ${body}\n`))).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining("damaged")]);
  expect(open().pending()).toBeUndefined();
  expect(warnings).toHaveLength(1);
});

test("any bytes at all are either the record or nothing", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
      expect(pendingIn(bytes)).toBeUndefined();
    }),
    { numRuns: 200 },
  );
});
