import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changeLog } from "../../testing/audit/change-log.ts";
import { entry } from "../../testing/audit/entry.ts";
import { createAuditLog, type FileAuditLog } from "./audit-log.ts";
import { type ChainRecord, followAudit, readAudit } from "./read.ts";
import { toAuditKey } from "./seal.ts";

const KEY = toAuditKey(Buffer.alloc(32, 7));

let folder: string;
let logs: FileAuditLog[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-audit-"));
  logs = [];
});
afterEach(() => {
  for (const log of logs) log.close();
  rmSync(folder, { recursive: true, force: true });
});

function createLog(): FileAuditLog {
  const log = createAuditLog({ folder, key: KEY, warn: () => {} });
  logs.push(log);
  return log;
}

const numberOf = (record: ChainRecord) => (record.kind === "call" ? [record.duration] : []);
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

test("records come in the order of their numbers, also a call that took long", async () => {
  const log = createLog();
  for (const i of [3, 1, 2]) log.append(entry(i));
  expect(readAudit(folder).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  const seen: number[] = [];
  for await (const { seq } of followAudit(folder, AbortSignal.timeout(60_000), { last: 2 })) {
    seen.push(seq);
    if (seq === 4) for (const i of [9, 5]) log.append(entry(i));
    if (seq === 6) break;
  }
  expect(seen).toEqual([3, 4, 5, 6]);
});

test("records of all processes come in the order in which they were written, the newest when there is a limit", async () => {
  const one = createLog();
  const two = createLog();
  for (const i of numbers(0, 40)) (i % 3 ? one : two).append(entry(i));
  expect((await readAudit(folder)).flatMap(numberOf)).toEqual(numbers(0, 40));
  for (const limit of [1, 3, 10, 25])
    expect((await readAudit(folder, { limit })).flatMap(numberOf)).toEqual(numbers(40 - limit, 40));
});

test("of a call that changes something the beginning is shown only until it is answered", async () => {
  const log = createLog();
  const { decisions: _d, code: _c, duration: _u, ...facts } = entry(0);
  const began = log.append({ ...facts, kind: "begin" });
  const kinds = async () =>
    (await readAudit(folder)).map(({ kind }) => kind).filter((kind) => kind !== "open");
  expect(await kinds()).toEqual(["begin"]);
  log.append({ ...entry(0), began });
  expect(await kinds()).toEqual(["call"]);
});

test("so it is when another chain was begun in between", async () => {
  const log = createLog();
  const { decisions: _d, code: _c, duration: _u, ...facts } = entry(0);
  const began = log.append({ ...facts, kind: "begin" });
  log.close();
  changeLog(folder, "UPDATE ends SET sealed = '{}'");
  createLog().append({ ...entry(10), began });
  const kept = await readAudit(folder);
  expect(new Set(kept.map(({ chain }) => chain)).size).toBe(2);
  expect(kept.map(({ kind }) => kind)).not.toContain("begin");
});

test("texts that are not records are left out", async () => {
  createLog().append(entry(1));
  for (const text of ["nonsense", "7", '{"half":'])
    changeLog(folder, "INSERT INTO records SELECT max(seq) + 1, ? FROM records", text);
  expect((await readAudit(folder)).flatMap(numberOf)).toEqual([1]);
});

test("a follower gets the last records and then every new one once, from any chain", async () => {
  const one = createLog();
  for (const i of numbers(0, 20)) one.append(entry(i));
  const stop = new AbortController();
  const seen: number[] = [];
  let two: FileAuditLog | undefined;
  for await (const record of followAudit(folder, stop.signal, { last: 10 })) {
    seen.push(...numberOf(record));
    if (record.kind !== "call") continue;
    if (record.duration === 19) for (const i of numbers(20, 40)) one.append(entry(i));
    if (record.duration === 39) two = createLog();
    if (record.duration >= 39 && record.duration < 60) two?.append(entry(record.duration + 1));
    if (record.duration === 60) stop.abort();
  }
  expect(seen).toEqual(numbers(10, 61));
});
