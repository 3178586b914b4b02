import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAuditLog } from "./audit-log.ts";
import { toAuditKey } from "./seal.ts";
import { entry } from "./testing/entry.ts";
import { verifyAudit } from "./verify.ts";

const KEY = toAuditKey(Buffer.alloc(32, 7));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function writeLog(records: number, chainBytes?: number): void {
  const log = createAuditLog({ folder, key: KEY, warn: () => {}, ...(chainBytes && { chainBytes }) });
  for (let i = 0; i < records; i++) log.append(entry(i));
  log.close();
}

const filesOf = (suffix: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(suffix))
    .sort()
    .map((name) => join(folder, name));
const onlyFile = (suffix: string) => filesOf(suffix)[0] as string;
const verify = () => verifyAudit(folder, KEY);

/** Changes the file, asks, and puts it back. */
async function verifyWith(path: string, changed: Uint8Array): Promise<boolean> {
  const before = readFileSync(path);
  writeFileSync(path, changed);
  const { ok } = await verify();
  writeFileSync(path, before);
  return ok;
}

function withFlippedBit(bytes: Buffer, bit: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
  return flipped;
}

test("an untouched log verifies", async () => {
  writeLog(20);
  writeLog(10);
  expect(await verify()).toEqual({ ok: true, chains: 1, records: 32, dropped: 0, problems: [], torn: [] });
});

test.each([".jsonl", ".head"])("a flipped bit in any byte of a small %s file is found", async (suffix) => {
  writeLog(1);
  const path = onlyFile(suffix);
  const bytes = readFileSync(path);
  const missed: number[] = [];
  for (let byte = 0; byte < bytes.length; byte++)
    // The lowest bit makes another digit, the sixth another case, which hexadecimal readers may take for the same.
    for (const bit of new Set([0, 5, byte % 8]))
      if (await verifyWith(path, withFlippedBit(bytes, byte * 8 + bit))) missed.push(byte * 8 + bit);
  expect(missed).toEqual([]);
  expect((await verify()).ok).toBe(true);
});

test("random flipped bits of a log of many chains are found, with their position", async () => {
  writeLog(400, 25_000);
  const paths = filesOf(".jsonl");
  expect(paths.length).toBeGreaterThan(4);
  for (let round = 0; round < 20; round++) {
    const path = paths[round % paths.length] as string;
    const bytes = readFileSync(path);
    const bit = Math.floor(Math.random() * bytes.length * 8);
    writeFileSync(path, withFlippedBit(bytes, bit));
    const { problems } = await verify();
    writeFileSync(path, bytes);
    const line = bytes
      .subarray(0, bit >> 3)
      .toString("latin1")
      .split("\n").length;
    expect(problems[0], `bit ${bit} of ${path}`).toMatchObject({ line });
    expect(path.endsWith(problems[0]?.file ?? "?")).toBe(true);
  }
});

test("a log cut off at any byte is found", async () => {
  writeLog(3);
  const path = onlyFile(".jsonl");
  const bytes = readFileSync(path);
  for (let length = 0; length < bytes.length; length++)
    expect(await verifyWith(path, bytes.subarray(0, length)), `cut at ${length}`).toBe(false);
});

test.each<[string, (lines: string[]) => string[], string]>([
  ["removed", (lines) => lines.toSpliced(2, 1), "before record 4, record 3 is missing"],
  ["repeated", (lines) => lines.toSpliced(2, 0, lines[2] as string), "record 3 is repeated or out of place"],
  [
    "moved",
    (lines) => lines.toSpliced(1, 2, lines[2] as string, lines[1] as string),
    "before record 3, record 2 is missing",
  ],
  ["added", (lines) => lines.toSpliced(2, 0, '{"seq":3,"kind":"call"}'), "the record was changed"],
])("a line that was %s is found", async (_how, change, what) => {
  writeLog(5);
  const path = onlyFile(".jsonl");
  const lines = readFileSync(path, "utf8").split("\n");
  writeFileSync(path, change(lines).join("\n"));
  const { ok, problems } = await verify();
  expect(ok).toBe(false);
  expect(problems.map((problem) => problem.what)).toContain(what);
});

test("a removed file, head or chain is found, and so are a second head and a record of another chain", async () => {
  writeLog(40, 4_000);
  const one = createAuditLog({ folder, key: KEY, warn: () => {} });
  one.append(entry(1));
  writeLog(3);
  one.close();
  const parts = filesOf(".jsonl");
  expect(await verify()).toMatchObject({ ok: true, chains: parts.length });

  const without = async (paths: readonly string[]) => {
    for (const path of paths) renameSync(path, `${path}.gone`);
    const verdict = await verify();
    for (const path of paths) renameSync(`${path}.gone`, path);
    return verdict.ok;
  };
  for (const path of [...parts, ...filesOf(".head")]) expect(await without([path]), path).toBe(false);
  const first = parts[0]?.split(".")[0] as string;
  expect(await without([...parts, ...filesOf(".head")].filter((path) => path.startsWith(first)))).toBe(false);

  const head = onlyFile(".head");
  copyFileSync(head, head.replace(".free.", ".1_1_00000000."));
  expect((await verify()).ok).toBe(false);
  rmSync(head.replace(".free.", ".1_1_00000000."));

  const last = parts.at(-1) as string;
  const stranger = readFileSync(parts[0] as string, "utf8").split("\n")[0];
  expect(await verifyWith(last, Buffer.from(`${stranger}\n${readFileSync(last, "utf8")}`))).toBe(false);
});

test("bytes added after a closed log, and the wrong key, are found", async () => {
  writeLog(2);
  const path = onlyFile(".jsonl");
  expect(await verifyWith(path, Buffer.from(`${readFileSync(path, "utf8")}x`))).toBe(false);
  expect((await verifyAudit(folder, toAuditKey(Buffer.alloc(32, 8)))).ok).toBe(false);
});

test("a log holds while others write to it, come and go", async () => {
  const writers = Array.from({ length: 3 }, async (_, writer) => {
    for (let round = 0; round < 15; round++) {
      const log = createAuditLog({ folder, key: KEY, warn: () => {}, chainBytes: 3_000 });
      for (let i = 0; i < 10; i++) {
        log.append(entry(writer * 1_000 + i));
        await new Promise(setImmediate);
      }
      log.close();
    }
  });
  let done = false;
  const all = Promise.all(writers).finally(() => {
    done = true;
  });
  while (!done) expect((await verify()).problems).toEqual([]);
  await all;
  const { ok, records, chains } = await verify();
  expect(ok).toBe(true);
  // Each writer opens a chain in each round, and another when that is full.
  expect(records).toBeGreaterThanOrEqual(3 * 15 * 11);
  expect(chains).toBe(filesOf(".jsonl").length);
});
