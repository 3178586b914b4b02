import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changeLog, logFiles } from "../../testing/audit/change-log.ts";
import { entry } from "../../testing/audit/entry.ts";
import { createAuditLog } from "./audit-log.ts";
import { readAudit } from "./read.ts";
import { toAuditKey } from "./seal.ts";
import { chainFile, newChainName } from "./tables.ts";
import { verifyAudit } from "./verify.ts";

const KEY = toAuditKey(Buffer.alloc(32, 7));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function writeLog(records: number): void {
  const log = createAuditLog({ folder, key: KEY, warn: () => {} });
  for (let i = 0; i < records; i++) log.append(entry(i));
  log.close();
}

const onlyFile = () => logFiles(folder)[0] as string;
const verify = () => verifyAudit(folder, KEY);

function withFlippedBit(bytes: Buffer, bit: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
  return flipped;
}

test("an untouched log verifies", async () => {
  writeLog(20);
  writeLog(10);
  expect(await verify()).toEqual({ ok: true, chains: 1, records: 32, dropped: 0, problems: [] });
});

/** Every stored text, with the statement that changes it. */
function textsIn(db: DatabaseSync) {
  const all = (sql: string) => db.prepare(sql).all() as { key: string | number; text: string }[];
  return [
    ...all("SELECT seq AS key, record AS text FROM records").map((row) => ({
      ...row,
      change: db.prepare("UPDATE records SET record = ? WHERE seq = ?"),
    })),
    ...all("SELECT name AS key, sealed AS text FROM ends").map((row) => ({
      ...row,
      change: db.prepare("UPDATE ends SET sealed = ? WHERE name = ?"),
    })),
  ];
}

test("a flipped bit in any byte of a record or of an end is found, with its number", async () => {
  writeLog(1);
  const missed: string[] = [];
  // While it is open, the others that open and close the file need not wait for the disk.
  using db = new DatabaseSync(onlyFile());
  for (const { change, key, text } of textsIn(db)) {
    const bytes = Buffer.from(text);
    for (let byte = 0; byte < bytes.length; byte++) {
      // The lowest bit makes another digit, the sixth another case, which hexadecimal readers may take for the same.
      const bit = byte * 8 + [0, 5, byte % 7][byte % 3]!;
      change.run(withFlippedBit(bytes, bit).toString("latin1"), key);
      const { problems } = await verify();
      if (problems[0]?.line !== (typeof key === "number" ? key : null)) missed.push(`${key}: bit ${bit}`);
    }
    change.run(text, key);
  }
  expect(missed).toEqual([]);
  expect((await verify()).ok).toBe(true);
});

test("a flipped bit anywhere in the file is found, or changes no record", async () => {
  writeLog(2);
  const bytes = readFileSync(onlyFile());
  const records = readAudit(folder);
  const wrong: number[] = [];
  for (let byte = 0; byte < bytes.length; byte += 61) {
    writeFileSync(onlyFile(), withFlippedBit(bytes, byte * 8 + (byte % 8)));
    const { ok } = await verify().catch(() => ({ ok: false }));
    if (ok && JSON.stringify(readAudit(folder)) !== JSON.stringify(records)) wrong.push(byte);
  }
  expect(wrong).toEqual([]);
});

test.each<[string, string, string]>([
  ["removed", "DELETE FROM records WHERE seq = 3", "before record 4, record 3 is missing"],
  ["removed at the end", "DELETE FROM records WHERE seq > 4", "at the end, records 5 to 6 are missing"],
  [
    "removed at the start",
    "DELETE FROM records WHERE seq < 3",
    "before record 3, records 1 to 2 are missing",
  ],
  [
    "repeated",
    "INSERT INTO records SELECT 7, record FROM records WHERE seq = 3",
    "record 3 is repeated or out of place",
  ],
  ["moved", "UPDATE records SET seq = 9 WHERE seq = 3", "before record 4, record 3 is missing"],
  ["moved at the end", "UPDATE records SET seq = 9 WHERE seq = 6", "record 6 is out of place"],
  ["added", `INSERT INTO records VALUES (7, '{"seq":7,"kind":"call"}')`, "the record was changed"],
])("a record that was %s is found", async (_how, sql, what) => {
  writeLog(5);
  changeLog(folder, sql);
  const { ok, problems } = await verify();
  expect(ok).toBe(false);
  expect(problems.map((problem) => problem.what)).toContain(what);
});

test.each([
  ["the end", "DELETE FROM ends"],
  ["the end, with the last records", "DELETE FROM ends"],
  ["a table", "DROP TABLE records"],
])("removing %s is found", async (how, sql) => {
  writeLog(5);
  if (how.includes("records")) changeLog(folder, "DELETE FROM records WHERE seq > 4");
  changeLog(folder, sql);
  expect((await verify()).ok).toBe(false);
});

function endOf(file: string): string {
  using db = new DatabaseSync(file);
  return String(db.prepare("SELECT sealed FROM ends WHERE name = 'last'").get()?.["sealed"]);
}

test("the end of an earlier state, of the other end, or of another chain is found", async () => {
  writeLog(2);
  const end = endOf(onlyFile());
  writeLog(2);
  changeLog(folder, "DELETE FROM records WHERE seq > 3");
  changeLog(folder, "UPDATE ends SET sealed = ?", end);
  expect((await verify()).ok, "an earlier state needs the witness").toBe(true);
  changeLog(folder, "INSERT INTO ends VALUES ('first', ?)", end);
  expect((await verify()).ok).toBe(false);
  changeLog(folder, "DELETE FROM ends WHERE name = 'first'");
  expect((await verify()).ok).toBe(true);
  copyFileSync(onlyFile(), join(folder, chainFile(newChainName(new Date()))));
  expect((await verify()).ok).toBe(false);
});

test("a log under another name, and the wrong key, are found", async () => {
  writeLog(2);
  expect((await verifyAudit(folder, toAuditKey(Buffer.alloc(32, 8)))).ok).toBe(false);
  renameSync(onlyFile(), join(folder, chainFile(newChainName(new Date()))));
  expect((await verify()).ok).toBe(false);
});

test("a log verifies while other processes start, write and exit", async () => {
  const writers = Array.from({ length: 3 }, async (_, writer) => {
    for (let round = 0; round < 15; round++) {
      const log = createAuditLog({ folder, key: KEY, warn: () => {} });
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
  // Each writer opens the log in each round.
  expect(await verify()).toMatchObject({ ok: true, chains: 1, records: 3 * 15 * 11 });
});
