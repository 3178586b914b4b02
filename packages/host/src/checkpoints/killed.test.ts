import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { expect, test } from "vitest";
import { openCheckpoints } from "../../testing/checkpoints/open-checkpoints.ts";

const LOOP = join(import.meta.dirname, "../../testing/checkpoints/undo-loop.ts");
const KILLS = Number(process.env["CHECKPOINT_KILLS"] ?? 4);
const MAX_LIFE_MS = 150;
/** Generous, including all overhead. */
const MAX_KILL_MS = 10_000;

test(
  "a process that is killed while it takes checkpoints and undoes leaves whole files, and the next one can undo its turn",
  async () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-killed-")));
    const root = join(base, "ws");
    const state = join(base, "state");
    mkdirSync(root);
    mkdirSync(state);
    const names = ["a", "b", "c"];
    for (const name of names) writeFileSync(join(root, name), "begin\n");
    try {
      for (let at = 0; at < KILLS; at++) {
        const child = spawn(process.execPath, [LOOP, root, state], { stdio: ["ignore", "pipe", "inherit"] });
        await once(child.stdout, "data");
        // The timing is the point of the test: every kill hits a different moment.
        await after((MAX_LIFE_MS * at) / KILLS);
        child.kill("SIGKILL");
        await once(child, "exit");
        await using opened = openCheckpoints(root, state);
        const { checkpoints, edits } = opened;
        await edits.recover();
        const [turn] = await checkpoints.turns({ limit: 1 });
        if (turn) {
          const { changes, conflicts } = await checkpoints.plan(turn, "undo");
          const all = [...changes, ...conflicts];
          if (all.length > 0) await edits.apply({ patch: await checkpoints.refFor(all) });
          await checkpoints.mark(turn, true);
        }
        expect(readdirSync(root).sort()).toEqual(names);
        for (const name of names) expect(readFileSync(join(root, name), "utf8")).toBe("begin\n");
      }
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  },
  KILLS * MAX_KILL_MS,
);
