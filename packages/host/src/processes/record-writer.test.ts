import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { thisProcess } from "../jobs/process-identity.ts";
import type { EndRecord, StartRecord } from "./protocol.ts";
import { createRecordWriter } from "./record-writer.ts";
import { endByForce, listRecords, readRecord, recordPath, sweepRecords } from "./records.ts";
import { SPOOL_CAPS } from "./spool.ts";

const root = mkdtempSync(join(tmpdir(), "octant-records-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function create() {
  const folder = mkdtempSync(join(root, "processes-"));
  const scratch = join(folder, "scratch");
  mkdirSync(scratch);
  return { folder, scratch, writer: createRecordWriter(folder, scratch) };
}

const startOf = (proc_id: string, command = "true"): StartRecord => ({
  ...{ proc_id, owner: "me", command, pid: 1, started_at: 1, pty: false, server: thisProcess() },
  caps: SPOOL_CAPS,
});
const endOf = (exit_code: number): EndRecord => ({
  ...endByForce(2),
  status: "exited",
  exit_code,
  signal: null,
});

test("every process has its record, though many share a file", () => {
  const { folder, scratch, writer } = create();
  const ids = Array.from({ length: 100 }, (_, n) => `proc_${1000 + n}`);
  ids.forEach((proc_id, n) => {
    const misleading = `echo '\n{"proc_id":"${ids[(n + 1) % ids.length]}","owner":"somebody else"}\n'`;
    writer.add(startOf(proc_id, misleading), n % 2 === 0 ? endOf(n) : undefined);
  });
  for (const [n, proc_id] of ids.entries()) if (n % 4 === 3) writer.addEnd(proc_id, endOf(n));
  writer.close();
  rmSync(scratch, { recursive: true });

  expect(listRecords(folder)).toEqual(ids.toReversed());
  for (const [n, proc_id] of ids.entries()) {
    const record = readRecord(folder, proc_id);
    expect(record?.start).toMatchObject({ proc_id, owner: "me" });
    expect(record?.end?.exit_code).toBe(n % 4 === 1 ? undefined : n);
  }
  expect(new Set(ids.map((proc_id) => statSync(recordPath(folder, proc_id)).ino)).size).toBeLessThan(5);
});

test("the last end that was told holds", () => {
  const { folder, writer } = create();
  writer.add(startOf("proc_1"), { ...endOf(0), output_open: true });
  writer.addEnd("proc_1", endOf(0));
  expect(readRecord(folder, "proc_1")?.end?.output_open).toBe(false);
});

test("what a full disk cut off spoils neither its own record nor the next", () => {
  const { folder, writer } = create();
  writer.add(startOf("proc_1"));
  appendFileSync(recordPath(folder, "proc_1"), '\n{"proc_id":"proc_1","status":"exi');
  writer.add(startOf("proc_2"), endOf(2));
  expect(readRecord(folder, "proc_1")).toMatchObject({ start: { proc_id: "proc_1" }, end: undefined });
  expect(readRecord(folder, "proc_2")?.end?.exit_code).toBe(2);
});

test("a record that is swept takes no other along", () => {
  const { folder, writer } = create();
  for (const proc_id of ["proc_1", "proc_2", "proc_3"]) writer.add(startOf(proc_id), endOf(0));
  sweepRecords(folder, Date.now(), { maxRecords: 2, maxBytes: 1_000_000, maxAgeMs: 1_000_000 });
  expect(listRecords(folder)).toEqual(["proc_3", "proc_2"]);
  expect(readRecord(folder, "proc_1")).toBeUndefined();
  expect(readRecord(folder, "proc_2")?.end?.exit_code).toBe(0);
});
