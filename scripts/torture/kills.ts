import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { filesOf, generationOf } from "./generations.ts";
import { openEdits } from "./open-edits.ts";
import type { Report, Torture } from "./report.ts";

const MAX_LIFE_MS = 200;

/** Kills a process repeatedly while it changes six files at a time. */
export const kills: Torture = async (count, random, onProgress) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-kills-")));
  const root = join(base, "ws");
  for (const [name, text] of Object.entries(filesOf(0))) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const violations: string[] = [];
  let generation = 0;
  let acknowledged = 0;
  let interrupted = 0;
  try {
    for (let i = 0; i < count && violations.length === 0; i++) {
      const last = await runUntilKilled(root, base, generation, random() * MAX_LIFE_MS);
      const torn = generationOf(root) !== last;
      await recover(root, base, violations);
      const found = generationOf(root);
      if (typeof found === "string") violations.push(`kill ${i}: ${found}`);
      else if (found < last) violations.push(`kill ${i}: ${last} was acknowledged, but ${found} is there`);
      else if (found > last + 1)
        violations.push(`kill ${i}: ${found} is there, but only ${last} was acknowledged`);
      else {
        acknowledged += last - generation;
        interrupted += torn ? 1 : 0;
        generation = found;
      }
      onProgress(i + 1);
    }
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
  const facts = `${acknowledged} sets acknowledged, ${interrupted} kills hit one half way`;
  return { what: `${count} kill -9 during patches of six files`, facts, violations } satisfies Report;
};

/** The last generation that the process acknowledged. */
async function runUntilKilled(root: string, base: string, first: number, lifeMs: number): Promise<number> {
  const script = join(import.meta.dirname, "patcher.ts");
  const child = spawn(process.execPath, [script, root, join(base, "state"), String(first)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (data) => {
    said += data;
  });
  const closed = once(child, "close");
  // Timed from the first finished set: starting takes long, and there is nothing to hit.
  await Promise.race([once(child.stdout, "data"), closed]);
  await delay(lifeMs);
  child.kill("SIGKILL");
  const [exitCode] = await closed;
  if (exitCode !== null) throw new Error(`the patching process ended by itself with code ${exitCode}`);
  return Number(said.split("\n").at(-2) ?? first);
}

async function recover(root: string, base: string, violations: string[]): Promise<void> {
  const { edits, warnings } = openEdits(root, join(base, "state"));
  await edits.recover();
  await edits.close();
  violations.push(...warnings);
}
