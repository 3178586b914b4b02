import { execFileSync } from "node:child_process";
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, rmSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changeLog } from "../../testing/audit/change-log.ts";
import { entry } from "../../testing/audit/entry.ts";
import { createAuditLog } from "./audit-log.ts";
import { toAuditKey } from "./seal.ts";
import { verifyAudit } from "./verify.ts";

const KEY = toAuditKey(Buffer.alloc(32, 7));

let base: string;
let small: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "octant-audit-full-"));
  small = join(base, "small");
  mkdirSync(small);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

test("a full disk refuses mandatory records, and the log verifies when there is space again", async (context) => {
  if (!mountSmallDisk()) {
    expect(process.env["CI"], "CI must be able to mount a small disk").toBeUndefined();
    context.skip("a small disk cannot be mounted here");
  }
  try {
    const log = createAuditLog({ folder: small, key: KEY, warn: () => {}, now: createClock() });
    log.append(entry(0));
    fill(join(small, "filler"));
    let written = 0;
    // The last block still has room for some.
    expect(() => {
      for (; ; written++) log.append(entry(written));
    }).toThrow(expect.objectContaining({ code: "NO_SPACE" }));
    expect(await isHoldingWithoutLastRecord(), "the last record before the refusal is guarded").toBe(false);
    expect(() => log.append(entry(1))).toThrow(expect.objectContaining({ code: "NO_SPACE" }));
    log.appendSoon(() => entry(2));
    log.flush();
    unlinkSync(join(small, "filler"));
    log.append(entry(3));
    log.close();
    const verdict = await verifyAudit(small, KEY);
    expect(verdict).toMatchObject({ ok: true, problems: [], chains: 1 });
    // Each time it was opened adds one.
    expect(verdict.records).toBeGreaterThanOrEqual(written + 3);
  } finally {
    execFileSync("umount", [small]);
  }
});

async function isHoldingWithoutLastRecord(): Promise<boolean> {
  const copy = join(base, "copy");
  cpSync(small, copy, { recursive: true, filter: (path) => basename(path) !== "filler" });
  changeLog(copy, "DELETE FROM records WHERE seq = (SELECT max(seq) FROM records)");
  return (await verifyAudit(copy, KEY)).ok;
}

/** Each look is later by more than the log waits. */
function createClock(): () => number {
  let now = 0;
  return () => (now += 2_000);
}

function mountSmallDisk(): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k,nr_inodes=40", "tmpfs", small], {
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}

function fill(path: string): void {
  const fd = openSync(path, "w");
  try {
    for (;;) writeSync(fd, Buffer.alloc(1024));
  } catch {
    closeSync(fd);
  }
}
