import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ToolError } from "@octant/core";
import { type Confinement, createConfinement } from "@octant/host";
import type { Report, Torture } from "./report.ts";

const READS_PER_TURN = 1_000;

/** Reads through a link that another process swaps between a folder inside and one outside, as fast as it can. */
export const linkSwaps: Torture = async (reads, _random, onProgress) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-swaps-")));
  const root = join(base, "ws");
  const outside = join(base, "outside");
  for (const [folder, text] of [
    [join(root, "real"), "inside"],
    [outside, "SECRET"],
  ] as const) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "file.txt"), text);
  }
  symlinkSync("real", join(root, "swap"));
  const swapper = spawn(process.execPath, [join(import.meta.dirname, "swapper.ts"), root, outside], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const seen = new Map<string, number>();
  try {
    await once(swapper.stdout, "data");
    const confinement = createConfinement([root]);
    for (let i = 1; i <= reads; i++) {
      const what = readOnce(confinement);
      seen.set(what, (seen.get(what) ?? 0) + 1);
      if (i % READS_PER_TURN !== 0) continue;
      onProgress(i);
      await nextTurn();
    }
  } finally {
    swapper.kill("SIGKILL");
    await once(swapper, "close");
    rmSync(base, { recursive: true, force: true });
  }
  const expected = ["inside", "OUTSIDE_WORKSPACE", "NOT_FOUND"];
  const violations = [...seen]
    .filter(([what]) => !expected.includes(what))
    .map(([what, n]) => `${n} × ${what}`);
  // Without both outcomes there was no race, and nothing was proven.
  if (!seen.has("inside") || !seen.has("OUTSIDE_WORKSPACE")) violations.push("the links were not swapped");
  const facts = [...seen].map(([what, n]) => `${n} ${what}`).join(", ");
  return { what: `${reads} reads against swapped links`, facts, violations } satisfies Report;
};

function readOnce(confinement: Confinement): string {
  try {
    using file = confinement.openFile(confinement.toPath("swap/file.txt"));
    return readFileSync(file.fd, "utf8");
  } catch (cause) {
    return cause instanceof ToolError ? cause.code : String(cause);
  }
}
