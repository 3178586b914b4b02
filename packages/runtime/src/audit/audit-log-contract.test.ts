import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeAuditLog } from "../../testing/audit/audit-log-contract.ts";
import { createAuditLog } from "./audit-log.ts";
import { readAudit } from "./read.ts";
import { toAuditKey } from "./seal.ts";

const LONGER_THAN_A_RETRY_MS = 10_000;

describeAuditLog("in a SQLite file", () => {
  const base = mkdtempSync(join(tmpdir(), "octant-audit-"));
  const folder = join(base, "audit");
  mkdirSync(folder);
  let now = 0;
  return {
    connect: () =>
      createAuditLog({ folder, key: toAuditKey(Buffer.alloc(32, 7)), warn: () => {}, now: () => now }),
    read: async () => readAudit(folder),
    fail: () => renameSync(folder, join(base, "away")),
    heal() {
      renameSync(join(base, "away"), folder);
      now += LONGER_THAN_A_RETRY_MS;
    },
    async [Symbol.asyncDispose]() {
      rmSync(base, { recursive: true, force: true });
    },
  };
});
