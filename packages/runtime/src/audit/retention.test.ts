import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAuditLog } from "./audit-log.ts";
import { readAudit } from "./read.ts";
import { toAuditKey } from "./seal.ts";
import { entry } from "./testing/entry.ts";
import { verifyAudit } from "./verify.ts";

const SECRET = Buffer.alloc(32, 7);
const KEY = toAuditKey(SECRET);
const WRITER = join(import.meta.dirname, "testing", "writing-process.ts");
const CHAIN_BYTES = 2_000;
const KEEP_BYTES = 10_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const createLog = (keepBytes = KEEP_BYTES) =>
  createAuditLog({ folder, key: KEY, warn: () => {}, chainBytes: CHAIN_BYTES, keepBytes });
/** Writes these, and gives the log back to others. */
function write(first: number, last: number, keepBytes?: number): void {
  const log = createLog(keepBytes);
  for (let i = first; i <= last; i++) log.append(entry(i));
  log.close();
}
const verify = () => verifyAudit(folder, KEY);
const filesOf = (suffix: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(suffix))
    .sort()
    .map((name) => join(folder, name));
const chainsOf = () => filesOf(".jsonl");
const sizeOfAll = () => chainsOf().reduce((sum, path) => sum + statSync(path).size, 0);
const callsOf = async () =>
  (await readAudit(folder)).flatMap((record) => (record.kind === "call" ? [record.duration] : []));

test("a log at its limit loses its oldest chains, records that, and the rest still verifies", async () => {
  write(0, 199);
  expect(sizeOfAll()).toBeLessThanOrEqual(KEEP_BYTES + 2 * CHAIN_BYTES);
  const { ok, chains, records, dropped, problems } = await verify();
  expect({ ok, chains, problems }).toEqual({ ok: true, chains: chainsOf().length, problems: [] });
  const told = (await readAudit(folder)).flatMap((record) => (record.kind === "dropped" ? [record] : []));
  expect(filesOf(".dropped").map((path) => basename(path, ".dropped"))).toContain(told.at(-1)?.dropped_chain);
  expect(records).toBe((await readAudit(folder)).length);
  expect(dropped).toBeGreaterThan(150);
  const calls = await callsOf();
  expect(calls.at(-1)).toBe(199);
  expect(calls).toEqual(calls.map((_, at) => 199 - calls.length + 1 + at));

  // The next process continues it.
  write(200, 250);
  expect(await verify()).toMatchObject({ ok: true });
  expect((await verify()).dropped).toBeGreaterThan(dropped);
});

test("nothing goes while there is room, and a lower limit counts with the next record", async () => {
  write(0, 30, 1_000_000);
  expect(await verify()).toMatchObject({ ok: true, dropped: 0 });
  write(31, 31);
  expect(sizeOfAll()).toBeLessThanOrEqual(KEEP_BYTES + CHAIN_BYTES);
  expect(await verify()).toMatchObject({ ok: true });
});

test("a chain removed by anybody else is missed, even the oldest of the retained ones", async () => {
  write(0, 99);
  for (const path of chainsOf()) {
    renameSync(path, `${path}.away`);
    expect((await verify()).ok, path).toBe(false);
    renameSync(`${path}.away`, path);
  }
  expect((await verify()).ok).toBe(true);
});

test("a chain cannot be passed off as removed by us: not by a changed bit, another's word of ours, or none", async () => {
  write(0, 99);
  const [path = "", other = ""] = filesOf(".dropped");
  const bytes = readFileSync(path);
  for (let bit = 0; bit < bytes.length * 8; bit += 15) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
    writeFileSync(path, flipped);
    expect((await verify()).ok, `bit ${bit}`).toBe(false);
  }
  writeFileSync(path, readFileSync(other));
  expect((await verify()).ok).toBe(false);
  writeFileSync(path, bytes);
  expect((await verify()).ok).toBe(true);

  const [kept = ""] = chainsOf();
  const head = filesOf(".head").find((one) => one.startsWith(kept.replace("jsonl", ""))) as string;
  rmSync(kept);
  rmSync(head);
  expect((await verify()).ok).toBe(false);
  copyFileSync(path, kept.replace(/jsonl$/, "dropped"));
  expect((await verify()).ok).toBe(false);
});

test("the word of ours is missed where another chain knows of the removed one", async () => {
  const first = createLog(1_000_000);
  first.append(entry(0));
  const second = createLog(1_000_000);
  second.append(entry(1));
  first.close();
  write(2, 40, 1);
  const [path = ""] = filesOf(".dropped");
  expect((await verify()).ok).toBe(true);
  rmSync(path);
  expect((await verify()).ok).toBe(false);
  second.close();
});

test("chains without a writer go; one written by another process stays", async () => {
  const busy = createLog(1_000_000);
  busy.append(entry(0));
  const [path] = chainsOf();
  write(1, 20, 1_000_000);
  expect(chainsOf().length).toBeGreaterThan(3);
  write(21, 40, 1);
  expect(chainsOf()).toContain(path);
  expect(chainsOf().length).toBeLessThanOrEqual(3);
  busy.close();
  expect(await verify()).toMatchObject({ ok: true });
});

test("a tampered chain is left alone, so that it is still found", async () => {
  write(0, 30, 1_000_000);
  const [oldest = ""] = chainsOf();
  truncateSync(oldest, 100);
  write(31, 60);
  expect(chainsOf()).toContain(oldest);
  expect((await verify()).ok).toBe(false);
});

test("a chain about to be removed when the process was killed is not a problem, and is removed next time", async () => {
  write(0, 20, 1_000_000);
  const [first = ""] = chainsOf();
  const [head = ""] = filesOf(".head");
  const left = [first, head].map((path) => ({ path, bytes: readFileSync(path) }));
  write(21, 40, 1);
  expect(chainsOf()).not.toContain(first);
  for (const { path, bytes } of left) {
    writeFileSync(path, bytes);
    expect(await verify()).toMatchObject({ ok: true });
  }
  write(41, 60);
  expect(chainsOf()).not.toContain(first);
  expect(filesOf(".head")).not.toContain(head);
  expect(await verify()).toMatchObject({ ok: true });
});

test("a process killed while removing chains leaves a log that verifies and that the next one continues", async () => {
  for (let round = 0; round < 3; round++) {
    const child = spawn(process.execPath, [WRITER, folder, SECRET.toString("hex"), "60000"]);
    let told = 0;
    child.stdout.on("data", ({ length }) => {
      told += length;
      if (told > 1_000) child.kill("SIGKILL");
    });
    await once(child, "close");
    expect((await verify()).problems).toEqual([]);
    expect(sizeOfAll()).toBeLessThan(120_000);
  }
  expect((await verify()).dropped).toBeGreaterThan(0);
});

test("looking at the log while its oldest chains go finds nothing wrong", async () => {
  const log = createLog();
  for (let round = 0; round < 20; round++) {
    const [verdict, records] = [verify(), readAudit(folder)];
    for (let i = 0; i < 12; i++) {
      log.append(entry(i));
      log.flush();
      await new Promise(setImmediate);
    }
    expect((await verdict).problems).toEqual([]);
    await records;
  }
  log.close();
});
