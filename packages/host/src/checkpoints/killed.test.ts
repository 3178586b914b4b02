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
import { createWorkspace } from "../workspace.ts";

const LOOP = join(import.meta.dirname, "testing/undo-loop.ts");
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
        const workspace = createWorkspace({
          roots: [root],
          env: { PATH: process.env["PATH"], HOME: state, XDG_STATE_HOME: state },
          warn: () => {},
        });
        try {
          await workspace.edits.recover();
          const [turn] = await workspace.checkpoints.turns({ limit: 1 });
          if (turn) {
            const { changes, conflicts } = await workspace.checkpoints.plan(turn, "undo");
            const all = [...changes, ...conflicts];
            if (all.length > 0)
              await workspace.edits.apply({ patch: await workspace.checkpoints.refFor(all) });
            await workspace.checkpoints.mark(turn, true);
          }
          expect(readdirSync(root).sort()).toEqual(names);
          for (const name of names) expect(readFileSync(join(root, name), "utf8")).toBe("begin\n");
        } finally {
          await workspace.close();
        }
      }
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  },
  KILLS * MAX_KILL_MS,
);
