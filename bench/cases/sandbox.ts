import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openStateFolder } from "@octant/host";
import { createSandbox } from "../../packages/host/src/sandbox/create-sandbox.ts";
import { DEFAULT_SANDBOX } from "../../packages/host/src/sandbox/settings.ts";
import { type Bench, type Case, expectEqual } from "../case.ts";
import { interleave } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

const NAME = "sandboxed true";
const MOST_ADDED_MS = 12;

/** The sandbox overhead of a command: asking for the launcher, and starting `true` through it instead of directly. */
export const sandbox: readonly Case[] = [{ name: NAME, run: sandboxedTrue }];

async function sandboxedTrue({ tree, effort, random }: Bench): Promise<Row> {
  const stateHome = mkdtempSync(join(tmpdir(), "octant-bench-state-"));
  const env = { ...process.env, XDG_STATE_HOME: stateHome };
  const roots = [tree.root];
  const state = openStateFolder({ roots, env, warn: () => {} });
  const box = createSandbox({ roots, settings: DEFAULT_SANDBOX, env, state });
  const { PATH = "", HOME = "" } = process.env;
  const command = { argv: ["true"], folder: tree.root, env: { PATH, HOME }, pty: false } as const;
  using spawner = startSpawner();
  try {
    const { level } = await box.status();
    expectEqual(level, "bubblewrap", "sandbox level");
    const { octant, direct } = await interleave(
      {
        octant: async () => {
          const start = performance.now();
          const launched = await box.wrap(command);
          const asked = performance.now() - start;
          return asked + (await spawner.time(launched.argv));
        },
        direct: () => spawner.time(command.argv),
      },
      effort,
      random,
    );
    const figure = octant.p50 - direct.p50;
    const note = `what the sandbox adds at level ${level}; direct: spawn of \`true\` by the same small process`;
    return { name: NAME, unit: "ms", octant, direct, figure, bar: atMost(MOST_ADDED_MS), note };
  } finally {
    await box.close();
    rmSync(stateHome, { recursive: true, force: true });
  }
}

interface Spawner extends Disposable {
  time(argv: readonly string[]): Promise<number>;
}

/** A small process starts both, like the supervisor, with its own clock. */
function startSpawner(): Spawner {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", SPAWNER], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async time(argv) {
      child.stdin.write(`${JSON.stringify(argv)}\n`);
      const answer = String((await lines.next()).value);
      if (answer.startsWith("failed")) throw new Error(`${NAME}: ${answer}`);
      return Number(answer);
    },
    [Symbol.dispose]: () => child.stdin.end(),
  };
}

const SPAWNER = `
  import { spawn } from "node:child_process";
  import { once } from "node:events";
  import { createInterface } from "node:readline";
  for await (const line of createInterface({ input: process.stdin })) {
    const [program, ...args] = JSON.parse(line);
    const start = performance.now();
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    child.stdout.resume();
    child.stderr.resume();
    const [code] = await once(child, "close");
    console.log(code === 0 ? performance.now() - start : "failed with " + code);
  }
`;
