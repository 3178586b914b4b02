import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { sweepLeftovers } from "../processes/leftovers.ts";
import { isAlive, isDead, thisProcess } from "./process-identity.ts";

const SAY = `import { thisProcess } from ${JSON.stringify(join(import.meta.dirname, "process-identity.ts"))};
console.log(thisProcess());
process.stdin.resume();`;

test.skipIf(inject("missing").includes("bubblewrap"))(
  "a process in another container is not known to be dead, and its folder stays",
  async () => {
    const flags = ["--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--die-with-parent"];
    const node = [process.execPath, "--input-type=module", "-e", SAY];
    const other = spawn("bwrap", [...flags, "--", ...node], { stdio: ["pipe", "pipe", "inherit"] });
    const closed = once(other, "close");
    onTestFinished(async () => {
      other.stdin.end();
      await closed;
    });
    const identity = String((await once(other.stdout, "data"))[0]).trim();
    expect([isAlive(identity), isDead(identity)]).toEqual([false, false]);

    const folder = mkdtempSync(join(tmpdir(), "octant-identity-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const gone = thisProcess().replace(/^\d+:\d*/, "1:1");
    expect([isAlive(gone), isDead(gone)]).toEqual([false, true]);
    const names = [identity, gone, thisProcess()].map((one) => `${one}:00ff`);
    for (const name of names) mkdirSync(join(folder, name));
    await sweepLeftovers(folder);
    expect(readdirSync(folder).toSorted()).toEqual([names[0], names[2]].toSorted());
  },
);
