import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changeLog, logFiles } from "../../testing/audit/change-log.ts";
import { entry } from "../../testing/audit/entry.ts";
import { createAuditLog } from "./audit-log.ts";
import { readAudit } from "./read.ts";
import { toAuditKey } from "./seal.ts";
import { verifyAudit } from "./verify.ts";

const SECRET = Buffer.alloc(32, 7);
const KEY = toAuditKey(SECRET);
const WRITER = join(import.meta.dirname, "../../testing/audit/writing-process.ts");
const KEEP_BYTES = 100_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const warnings: string[] = [];
const createLog = (keepBytes = KEEP_BYTES) =>
  createAuditLog({ folder, key: KEY, warn: (line) => warnings.push(line), keepBytes });
/** Writes these, and gives the log back to others. */
function write(first: number, last: number, keepBytes?: number): void {
  const log = createLog(keepBytes);
  for (let i = first; i <= last; i++) log.appendSoon(() => entry(i));
  log.close();
}
const verify = () => verifyAudit(folder, KEY);
const sizeOfAll = () => logFiles(folder).reduce((sum, path) => sum + statSync(path).size, 0);
const callsOf = () =>
  readAudit(folder).flatMap((record) => (record.kind === "call" ? [record.duration] : []));

test("a log at its limit loses its oldest records, records that, and the rest still verifies", async () => {
  write(0, 999, Number.POSITIVE_INFINITY);
  expect(sizeOfAll()).toBeGreaterThan(2 * KEEP_BYTES);
  write(1_000, 1_000);
  expect(sizeOfAll()).toBeLessThanOrEqual(1.2 * KEEP_BYTES);
  const { ok, records, dropped, problems } = await verify();
  expect({ ok, problems }).toEqual({ ok: true, problems: [] });
  expect(readAudit(folder).filter(({ kind }) => kind === "dropped")).toMatchObject([{ records: dropped }]);
  expect(records).toBe(readAudit(folder).length);
  const calls = callsOf();
  expect(calls).toEqual(calls.map((_, at) => 1_000 - calls.length + 1 + at));

  // The next process continues it.
  write(1_001, 1_500);
  write(1_501, 1_501);
  expect(await verify()).toMatchObject({ ok: true });
  expect((await verify()).dropped).toBeGreaterThan(dropped);
});

test("no record is removed while there is room", async () => {
  write(0, 30, 1_000_000);
  write(31, 40, 1_000_000);
  expect(await verify()).toMatchObject({ ok: true, dropped: 0 });
});

test("the smallest limit leaves the last records", async () => {
  write(0, 500);
  write(501, 501, 1);
  expect(callsOf()).toContain(501);
  expect(await verify()).toMatchObject({ ok: true });
});

test("a log that one process writes for long stays within its limit", async () => {
  const log = createLog(300_000);
  for (let i = 0; i < 15_000; i++) {
    log.appendSoon(() => entry(i));
    if (i % 200 === 0) log.flush();
  }
  log.close();
  expect((await verify()).dropped).toBeGreaterThan(8_000);
  expect(await verify()).toMatchObject({ ok: true });
});

test("an old record removed by anybody else is missed, and the beginning cannot be forged", async () => {
  write(0, 999, Number.POSITIVE_INFINITY);
  write(1_000, 1_000);
  const oldest = readAudit(folder)[0]?.seq ?? 0;
  const [kept] = readAudit(folder);
  changeLog(folder, "DELETE FROM records WHERE seq = ?", oldest);
  expect((await verify()).problems).toMatchObject([
    { what: `before record ${oldest + 1}, record ${oldest} is missing` },
  ]);
  for (const sealed of [
    `json_set(sealed, '$.seq', ${oldest})`,
    `json_set(sealed, '$.seq', ${oldest}, '$.last', '${kept?.hash}')`,
    "(SELECT sealed FROM ends WHERE name = 'last')",
  ]) {
    changeLog(folder, `UPDATE ends SET sealed = ${sealed} WHERE name = 'first'`);
    expect((await verify()).ok, sealed).toBe(false);
  }
  changeLog(folder, "DELETE FROM ends WHERE name = 'first'");
  expect((await verify()).ok).toBe(false);
});

test("old records that were tampered with stay, so that they are still found", async () => {
  write(0, 999, Number.POSITIVE_INFINITY);
  changeLog(folder, "DELETE FROM records WHERE seq = 5");
  write(1_000, 1_000);
  expect(await verify()).toMatchObject({ ok: false, dropped: 0, records: 1_002 });
  expect(warnings.join()).toContain("old records of the audit log were changed; they stay");
});

test("a process killed while removing records leaves a log that verifies and that the next one continues", async () => {
  for (let round = 0; round < 3; round++) {
    const child = spawn(process.execPath, [WRITER, folder, SECRET.toString("hex"), "60000"]);
    let told = 0;
    child.stdout.on("data", ({ length }) => {
      told += length;
      if (told > 5_000) child.kill("SIGKILL");
    });
    await once(child, "close");
    expect((await verify()).problems).toEqual([]);
  }
  expect((await verify()).dropped).toBeGreaterThan(0);
});

test("verifying the log while its oldest records are removed finds no problem", async () => {
  const log = createLog();
  const text = "x".repeat(20_000);
  for (let round = 0; round < 20; round++) {
    const [verdict, records] = [verify(), readAudit(folder)];
    for (let i = 0; i < 12; i++) {
      log.append({ ...entry(i), arguments: text });
      log.flush();
      await new Promise(setImmediate);
    }
    expect((await verdict).problems).toEqual([]);
    expect(records.length).toBeGreaterThanOrEqual(round > 0 ? 1 : 0);
  }
  expect((await verify()).dropped).toBeGreaterThan(0);
  log.close();
});
