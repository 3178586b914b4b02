import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
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

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const createLog = (chainBytes?: number) =>
  createAuditLog({ folder, key: KEY, warn: () => {}, ...(chainBytes && { chainBytes }) });
const verify = () => verifyAudit(folder, KEY);
const filesOf = (suffix: string) => readdirSync(folder).filter((name) => name.endsWith(suffix));
const actionsOf = async () =>
  (await readAudit(folder)).flatMap((record) => (record.kind === "call" ? [record.action] : []));

test("a log that was never written to leaves no trace", () => {
  createLog().close();
  expect(readdirSync(folder)).toEqual([]);
});

test("records that may wait are on the disk soon, before those that come later, and at the latest when it closes", async () => {
  const log = createLog();
  log.appendSoon(() => entry(1));
  log.appendSoon(() => entry(2));
  expect(readdirSync(folder)).toEqual([]);
  await expect.poll(actionsOf).toEqual(["fs.read1", "fs.read2"]);
  log.appendSoon(() => entry(3));
  log.append(entry(4));
  expect(await actionsOf()).toEqual(["fs.read1", "fs.read2", "fs.read3", "fs.read4"]);
  log.appendSoon(() => entry(5));
  log.close();
  expect(await actionsOf()).toHaveLength(5);
});

test("the next process continues the chain; a concurrent one has its own", async () => {
  const first = createLog();
  first.append(entry(1));
  const second = createLog();
  second.append(entry(2));
  first.close();
  second.close();
  for (let i = 3; i < 6; i++) {
    const log = createLog();
    log.append(entry(i));
    log.close();
  }
  expect(filesOf(".head")).toHaveLength(2);
  expect(await verify()).toMatchObject({ ok: true, chains: 2, records: 10 });
  expect(await actionsOf()).toHaveLength(5);
});

test("a full chain is followed by another", async () => {
  const log = createLog(2_000);
  for (let i = 0; i < 50; i++) log.append(entry(i));
  log.close();
  expect(filesOf(".jsonl").length).toBeGreaterThan(5);
  for (const name of filesOf(".jsonl"))
    expect(readFileSync(join(folder, name)).length).toBeLessThanOrEqual(2_500);
  const chains = filesOf(".jsonl").length;
  expect(await verify()).toMatchObject({ ok: true, chains, records: 50 + chains });
});

const WRITER = join(import.meta.dirname, "testing", "writing-process.ts");

/** Runs a process that writes until it is killed; returns the last number that was acknowledged as on disk. */
async function writeUntilKilled(): Promise<{ seq: number; chain: string }> {
  const child = spawn(process.execPath, [WRITER, folder, SECRET.toString("hex")]);
  let told = "";
  child.stdout.on("data", (data) => {
    told += data;
    if (told.length > 300) child.kill("SIGKILL");
  });
  await once(child, "close");
  const [seq, chain = ""] = told.trimEnd().split("\n").at(-1)?.split("@") ?? [];
  return { seq: Number(seq), chain };
}

test("a killed writer loses no acknowledged record, and the next one continues", async () => {
  let written = 0;
  for (let round = 0; round < 3; round++) {
    const { seq } = await writeUntilKilled();
    expect(seq).toBeGreaterThan(written);
    const verdict = await verify();
    expect(verdict.problems).toEqual([]);
    expect(verdict.chains).toBe(1);
    expect(verdict.records).toBeGreaterThanOrEqual(seq);
    written = verdict.records;
  }
});

test("a torn line is reported as such; the next writer cuts it off, records that and continues", async () => {
  await writeUntilKilled();
  const path = join(folder, filesOf(".jsonl").at(-1) as string);
  const written = readFileSync(path);
  // The kill itself may have torn a record.
  const whole = written.lastIndexOf("\n") + 1;
  appendFileSync(path, written.subarray(0, 100));
  expect(await verify()).toMatchObject({ ok: true, torn: [{ file: filesOf(".jsonl").at(-1) }] });

  const log = createLog();
  log.append(entry(1));
  log.close();
  expect(await verify()).toMatchObject({ ok: true, chains: 1, torn: [] });
  const bytes = written.length - whole + 100;
  expect((await readAudit(folder)).find(({ kind }) => kind === "torn")).toMatchObject({ bytes });
  expect(readFileSync(path).subarray(0, whole)).toEqual(written.subarray(0, whole));
});

test("a tampered chain is left alone; the next writer starts another", async () => {
  await writeUntilKilled();
  const last = join(folder, filesOf(".jsonl").at(-1) as string);
  appendFileSync(last, '{"seq":1,"kind":"call"}\n');
  const before = readFileSync(last, "utf8");
  const log = createLog();
  log.append(entry(1));
  log.close();
  expect(readFileSync(last, "utf8")).toBe(before);
  expect(await verify()).toMatchObject({
    ok: false,
    chains: 2,
    problems: [{ what: "the record was changed" }],
  });
});

test("where nothing can be written, a mandatory record is refused, and the others are buffered until it works again", async () => {
  const missing = join(folder, "audit");
  const warnings: string[] = [];
  let now = 0;
  const log = createAuditLog({
    folder: missing,
    key: KEY,
    warn: (message) => warnings.push(message),
    now: () => now,
  });
  for (let i = 0; i < 3; i++) {
    now += 2_000;
    expect(() => log.append(entry(0))).toThrow(
      expect.objectContaining({ code: "IO_ERROR", details: { errno: "ENOENT" } }),
    );
  }
  log.appendSoon(() => entry(1));
  log.flush();
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).not.toContain(folder);

  mkdirSync(missing);
  expect(() => log.append(entry(2)), "it is left alone for a second").toThrow();
  now += 2_000;
  log.append(entry(2));
  log.close();
  const records = await readAudit(missing);
  expect(records.flatMap((record) => (record.kind === "call" ? [record.action] : []))).toEqual([
    "fs.read1",
    "fs.read2",
  ]);
  expect((await verifyAudit(missing, KEY)).ok).toBe(true);
});

test("removing a log while it is written is detected, and the next one records that it is gone", async () => {
  let now = 0;
  const log = createAuditLog({ folder, key: KEY, warn: () => {}, now: () => now });
  log.append(entry(1));
  rmSync(join(folder, filesOf(".jsonl")[0] as string));
  expect(() => log.append(entry(2))).toThrow(expect.objectContaining({ code: "IO_ERROR" }));
  now += 2_000;
  log.append(entry(2));
  log.close();
  expect(await verify()).toMatchObject({ ok: false, chains: 2 });
});

test("when too many records wait for the disk, how many were given up is recorded", async () => {
  const missing = join(folder, "audit");
  const log = createAuditLog({ folder: missing, key: KEY, warn: () => {} });
  for (let i = 0; i < 10_005; i++) log.appendSoon(() => entry(i));
  log.flush();
  mkdirSync(missing);
  log.close();
  const records = await readAudit(missing);
  expect(records.filter(({ kind }) => kind === "call")).toHaveLength(10_000);
  expect(records.find(({ kind }) => kind === "lost")).toMatchObject({ records: 5 });
});
