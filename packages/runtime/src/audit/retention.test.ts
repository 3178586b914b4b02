import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAuditLog } from "./audit-log.ts";
import { readAudit } from "./read.ts";
import { toAuditKey } from "./seal.ts";
import { entry } from "./testing/entry.ts";
import { verifyAudit } from "./verify.ts";

const SECRET = Buffer.alloc(32, 7);
const KEY = toAuditKey(SECRET);
const WRITER = join(import.meta.dirname, "testing", "writing-process.ts");
const PART_BYTES = 2_000;
const KEEP_BYTES = 10_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const createLog = (keepBytes = KEEP_BYTES) =>
  createAuditLog({ folder, key: KEY, warn: () => {}, partBytes: PART_BYTES, keepBytes });
/** Writes these, and gives the log back to others. */
function write(first: number, last: number, keepBytes?: number): void {
  const log = createLog(keepBytes);
  for (let i = first; i <= last; i++) log.append(entry(i));
  log.close();
}
const verify = () => verifyAudit(folder, KEY);
const partsOf = (chain = "") =>
  readdirSync(folder)
    .filter((name) => name.startsWith(chain) && name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(folder, name));
const anchor = () => join(folder, readdirSync(folder).find((name) => name.endsWith(".anchor")) as string);
const sizeOfAll = () => partsOf().reduce((sum, path) => sum + statSync(path).size, 0);
const callsOf = async () =>
  (await readAudit(folder)).flatMap((record) => (record.kind === "call" ? [record.duration] : []));

test("a log at its limit loses its oldest parts, records that, and the rest still verifies", async () => {
  write(0, 199);
  expect(sizeOfAll()).toBeLessThanOrEqual(KEEP_BYTES + PART_BYTES);
  const { ok, chains, records, dropped, problems } = await verify();
  expect({ ok, chains, problems }).toEqual({ ok: true, chains: 1, problems: [] });
  const told = (await readAudit(folder)).flatMap((record) => (record.kind === "dropped" ? [record] : []));
  const last = told.at(-1);
  expect(partsOf()[0]).toContain(String((last?.parts[1] ?? 0) + 1).padStart(4, "0"));
  expect(records).toBe((await readAudit(folder)).length);
  expect(dropped).toBeGreaterThan(150);
  const calls = await callsOf();
  expect(calls.at(-1)).toBe(199);
  expect(calls).toEqual(calls.map((_, at) => 199 - calls.length + 1 + at));

  // The next process continues it.
  write(200, 250);
  expect(await verify()).toMatchObject({ ok: true, chains: 1 });
  expect((await verify()).dropped).toBeGreaterThan(dropped);
});

test("nothing goes while there is room, and a lower limit counts with the next record", async () => {
  write(0, 30, 1_000_000);
  expect(await verify()).toMatchObject({ ok: true, dropped: 0, records: 32 });
  write(31, 31);
  expect(sizeOfAll()).toBeLessThanOrEqual(KEEP_BYTES + PART_BYTES);
  expect(await verify()).toMatchObject({ ok: true });
});

test("a part removed by anybody else is missed, even the first of the retained ones", async () => {
  write(0, 99);
  for (const path of partsOf()) {
    renameSync(path, `${path}.away`);
    expect((await verify()).ok, path).toBe(false);
    renameSync(`${path}.away`, path);
  }
  expect((await verify()).ok).toBe(true);
});

test("where the log begins cannot be moved: not by a changed bit, an older word of ours, or none", async () => {
  write(0, 60);
  const older = readFileSync(anchor());
  write(61, 99);
  const bytes = readFileSync(anchor());
  for (let bit = 0; bit < bytes.length * 8; bit += 7) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
    writeFileSync(anchor(), flipped);
    expect((await verify()).ok, `bit ${bit}`).toBe(false);
  }
  writeFileSync(anchor(), older);
  expect((await verify()).ok).toBe(false);
  const path = anchor();
  rmSync(path);
  expect((await verify()).ok).toBe(false);
  writeFileSync(path, bytes);
  expect((await verify()).ok).toBe(true);
  for (const name of readdirSync(folder)) if (!name.endsWith(".anchor")) rmSync(join(folder, name));
  expect((await verify()).ok, "the beginning of nothing").toBe(false);
});

test("chains without a writer lose their oldest parts too; one written by another process keeps its own", async () => {
  const [busy, other] = [createLog(1_000_000), createLog(1_000_000)];
  for (let i = 0; i < 20; i++) busy.append(entry(i));
  for (let i = 0; i < 20; i++) other.append(entry(i));
  other.close();
  const mine = createLog(1_000_000);
  // It continues the other's chain, so that another log starts one more.
  mine.append(entry(20));
  const third = createLog(1);
  third.append(entry(21));
  mine.close();
  const counts = () =>
    [...Map.groupBy(partsOf(), (path) => path.split(".")[0]).values()].map((parts) => parts.length);
  const before = counts();
  expect(before.filter((count) => count > 1)).toHaveLength(2);
  for (let i = 22; i < 40; i++) third.append(entry(i));
  third.flush();
  expect(counts().filter((count) => count > 1)).toHaveLength(1);
  third.close();
  busy.close();
  expect(await verify()).toMatchObject({ ok: true, chains: 3 });
});

test("a tampered chain is left alone, so that it is still found", async () => {
  write(0, 30, 1_000_000);
  rmSync(partsOf()[0] as string);
  const before = partsOf();
  write(31, 60);
  expect(partsOf()).toEqual(expect.arrayContaining(before));
  expect((await verify()).problems).toContainEqual(
    expect.objectContaining({ what: "part 1 of this chain is missing" }),
  );
});

test("a part about to be removed when the process was killed is not a problem, and is removed next time", async () => {
  write(0, 20, 1_000_000);
  const [first = ""] = partsOf();
  copyFileSync(first, `${first}.kept`);
  write(21, 40);
  copyFileSync(`${first}.kept`, first);
  expect(await verify()).toMatchObject({ ok: true });
  write(41, 60);
  expect(partsOf()).not.toContain(first);
  expect(await verify()).toMatchObject({ ok: true });
});

test("the torn line of a killed writer may be removed before the record about it", async () => {
  const child = spawn(process.execPath, [WRITER, folder, SECRET.toString("hex")]);
  child.stdout.once("data", () => child.kill("SIGKILL"));
  await once(child, "close");
  const torn = partsOf().at(-1) as string;
  appendFileSync(torn, '{"seq":');
  const log = createLog();
  for (let i = 0; i < 60; i++) {
    log.append(entry(i));
    log.flush();
    const { ok, problems } = await verify();
    expect(problems).toEqual([]);
    expect(ok).toBe(true);
  }
  log.close();
  expect(partsOf()).not.toContain(torn);
});

test("a process killed while removing parts leaves a log that verifies and that the next one continues", async () => {
  for (let round = 0; round < 4; round++) {
    const child = spawn(process.execPath, [WRITER, folder, SECRET.toString("hex"), "60000"]);
    let told = 0;
    child.stdout.on("data", ({ length }) => {
      told += length;
      if (told > 1_000) child.kill("SIGKILL");
    });
    await once(child, "close");
    expect(await verify()).toMatchObject({ problems: [], chains: 1 });
  }
  expect((await verify()).dropped).toBeGreaterThan(0);
});

test("looking at the log while its oldest parts go finds nothing wrong", async () => {
  const log = createLog();
  for (let round = 0; round < 40; round++) {
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
