import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { logFiles } from "../../testing/audit/change-log.ts";
import { entry } from "../../testing/audit/entry.ts";
import { createAuditLog } from "./audit-log.ts";
import { toAuditKey } from "./seal.ts";
import { verifyAudit } from "./verify.ts";

const KEY = toAuditKey(Buffer.alloc(32, 7));

let base: string;
let folder: string;
let witnesses: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "octant-witness-"));
  folder = join(base, "audit");
  witnesses = join(base, "audit-witness");
  mkdirSync(folder);
  mkdirSync(witnesses);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const createLog = () => createAuditLog({ folder, witnesses, key: KEY, warn: () => {} });
const verify = () => verifyAudit(folder, KEY, witnesses);

function writeLog(records: number): void {
  const log = createLog();
  for (let i = 0; i < records; i++) log.append(entry(i));
  log.close();
}

test("a workspace without an audit log yet is whole", async () => {
  expect(await verify()).toMatchObject({ ok: true, records: 0, chains: 0 });
});

test("a removed log is missed, also after another one was begun", async () => {
  writeLog(5);
  expect((await verify()).ok).toBe(true);
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  const gone = { what: expect.stringMatching(/^chain \S+ is missing; its last record was 6$/) };
  expect(await verify()).toMatchObject({ ok: false, problems: [gone] });
  writeLog(2);
  expect(await verify()).toMatchObject({ ok: false, chains: 1, problems: [gone] });
});

test("an older state of a chain is found", async () => {
  writeLog(3);
  const [file = ""] = logFiles(folder);
  const older = readFileSync(file);
  writeLog(3);
  writeFileSync(file, older);
  expect((await verify()).problems).toMatchObject([
    { what: expect.stringMatching(/^records 5 to 8 are gone/) },
  ]);
});

test("a chain whose writer was never closed has a witness", async () => {
  const log = createLog();
  log.append(entry(1));
  log.flush();
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  expect((await verify()).ok).toBe(false);
});

test("a changed witness is reported", async () => {
  writeLog(1);
  const [name = ""] = readdirSync(witnesses);
  writeFileSync(join(witnesses, name), '{"chain":"x","seq":0}\n');
  expect((await verify()).problems).toMatchObject([{ what: "the witness of this chain was changed" }]);
});
