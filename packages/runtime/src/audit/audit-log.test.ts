import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changeLog, logFiles } from "../../testing/audit/change-log.ts";
import { entry } from "../../testing/audit/entry.ts";
import { createAuditLog } from "./audit-log.ts";
import { readAudit } from "./read.ts";
import { toAuditKey } from "./seal.ts";
import { listChains } from "./tables.ts";
import { verifyAudit } from "./verify.ts";

const SECRET = Buffer.alloc(32, 7);
const KEY = toAuditKey(SECRET);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const createLog = () => createAuditLog({ folder, key: KEY, warn: () => {} });
const verify = () => verifyAudit(folder, KEY);
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

test("processes that write at the same time or one after the other share one chain", async () => {
  const first = createLog();
  const second = createLog();
  for (let i = 0; i < 10; i++) {
    first.append(entry(2 * i));
    second.append(entry(2 * i + 1));
    if (i % 3 === 0) first.appendSoon(() => entry(100 + i));
    if (i % 4 === 0) second.flush();
  }
  first.close();
  second.close();
  for (let i = 200; i < 203; i++) {
    const log = createLog();
    log.append(entry(i));
    log.close();
  }
  expect(logFiles(folder)).toHaveLength(1);
  expect(await verify()).toMatchObject({ ok: true, chains: 1, records: 20 + 4 + 3 + 5 });
  expect(await actionsOf()).toHaveLength(27);
});

const WRITER = join(import.meta.dirname, "../../testing/audit/writing-process.ts");

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

test("several processes that write as fast as they can until they are killed leave one whole chain", async () => {
  const log = createLog();
  log.append(entry(0));
  const ends = await Promise.all([writeUntilKilled(), writeUntilKilled(), writeUntilKilled()]);
  log.append(entry(1));
  log.close();
  const verdict = await verify();
  expect(verdict).toMatchObject({ ok: true, chains: 1 });
  expect(verdict.records).toBeGreaterThan(Math.max(...ends.map(({ seq }) => seq)));
});

test.each<[string, () => void, damaged?: number]>([
  ["has an added record", () => changeLog(folder, "INSERT INTO records VALUES (100000, '{}')")],
  ["lost its last record", () => changeLog(folder, LAST_GONE)],
  ["has a changed end", () => changeLog(folder, "UPDATE ends SET sealed = replace(sealed, '0', '1')")],
  ["lost its end", () => changeLog(folder, "DELETE FROM ends")],
  ["lost its table", () => changeLog(folder, "DROP TABLE records"), 1],
  ["is not a database", () => writeFileSync(logFiles(folder)[0] as string, "nonsense"), 1],
])("a chain that %s is left alone; the next writer starts another", async (_how, change, damages = 0) => {
  const before = createLog();
  for (let i = 0; i < 3; i++) before.append(entry(i));
  before.close();
  change();
  const { problems } = await verify();
  expect(problems).not.toEqual([]);
  const log = createLog();
  log.append(entry(1));
  log.close();
  expect(await verify()).toMatchObject({ ok: false, chains: 2, problems });
  const damaged: string[] = [];
  const records = readAudit(folder, { onDamage: (file) => damaged.push(file) });
  expect(records.find(({ chain }) => chain === listChains(folder).at(-1))).toMatchObject({ kind: "open" });
  expect(damaged).toHaveLength(damages);
});

const LAST_GONE = "DELETE FROM records WHERE seq = (SELECT max(seq) FROM records)";

test("a log that is changed while it is written is detected, and another is begun", async () => {
  let now = 0;
  const log = createAuditLog({ folder, key: KEY, warn: () => {}, now: () => now });
  log.append(entry(1));
  changeLog(folder, "INSERT INTO records SELECT max(seq) + 1, '{}' FROM records");
  expect(() => log.append(entry(2))).toThrow(expect.objectContaining({ code: "IO_ERROR" }));
  now += 2_000;
  log.append(entry(2));
  log.close();
  expect(await verify()).toMatchObject({ ok: false, chains: 2 });
});

test("a log of a newer version is refused, and not overwritten", () => {
  createLog().append(entry(1));
  changeLog(folder, "PRAGMA user_version = 9");
  expect(() => createLog().append(entry(2))).toThrow(/newer version/);
  expect(logFiles(folder)).toHaveLength(1);
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

test("removing a log while it is written is detected, and another is begun", async () => {
  let now = 0;
  const log = createAuditLog({ folder, key: KEY, warn: () => {}, now: () => now });
  log.append(entry(1));
  rmSync(logFiles(folder)[0] as string);
  expect(() => log.append(entry(2))).toThrow(expect.objectContaining({ code: "IO_ERROR" }));
  now += 2_000;
  log.append(entry(2));
  log.close();
  expect(await verify()).toMatchObject({ chains: 1 });
});

test("when too many records wait for the disk, the number of dropped ones is recorded", async () => {
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
