import { execFile } from "node:child_process";
import { createInterface } from "node:readline";
import { findTrusted } from "../../src/programs/trusted-program.ts";
import { createSandbox } from "../../src/sandbox/create-sandbox.ts";
import { openBoundExchange } from "../../src/sandbox/exchange.ts";
import { createGuard } from "../../src/sandbox/guard.ts";
import { createPlanCache } from "../../src/sandbox/plan-cache.ts";
import { tryLevel } from "../../src/sandbox/probe.ts";
import type { LaunchedCommand, Sandbox, SandboxOptions } from "../../src/sandbox/sandbox.ts";
import { openScratch } from "../../src/sandbox/scratch.ts";
import type { SandboxSettings } from "../../src/sandbox/settings.ts";
import { createUnshareLevel } from "../../src/sandbox/unshare-level.ts";
import { openStateFolder } from "../../src/state.ts";
import { createPreparedRunner } from "./prepared-runner.ts";

/** A line of input for a separate process, possibly of another user: commands to run one by one. */
export interface Assignment {
  readonly root: string;
  readonly settings: SandboxSettings;
  /** As on a machine without bubblewrap. */
  readonly level?: "unshare";
  /** Each command runs in a sandbox that was prepared for it. */
  readonly prepared?: true;
  readonly env: Readonly<Record<string, string>>;
  readonly commands: readonly AssignedCommand[];
}

export interface AssignedCommand {
  readonly argv: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  readonly network?: "off";
  readonly changesProtected?: true;
  readonly readOnly?: true;
}

export interface Outcome {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether its sandbox had waited for it. */
  readonly prepared?: boolean;
}

export interface Report {
  readonly level: string;
  readonly outcomes: readonly Outcome[];
}

/** As a server does, it keeps a sandbox from command to command; other settings need another one. */
const sandboxes = new Map<string, Sandbox>();
for await (const line of createInterface({ input: process.stdin })) {
  const report = await carryOut(JSON.parse(line));
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
for (const sandbox of sandboxes.values()) await sandbox.close();

async function carryOut({
  root,
  settings,
  env,
  commands,
  level: forced,
  prepared,
}: Assignment): Promise<Report> {
  const state = openStateFolder({ roots: [root], env: process.env, warn: () => {} });
  const options = { roots: [root], settings, env: process.env, state };
  const key = JSON.stringify([root, settings, forced]);
  const sandbox = sandboxes.get(key) ?? (forced ? createWeaker(options) : createSandbox(options));
  sandboxes.set(key, sandbox);
  state.secret();
  const outcomes: Outcome[] = [];
  await using runner = prepared && createPreparedRunner(sandbox, root, state.folder("processes"));
  for (const { argv, env: extra, ...narrower } of commands) {
    const passed = { ...env, STATE: state.path, ...extra };
    if (runner) {
      outcomes.push(await runner.run(argv, passed, narrower));
      continue;
    }
    const launched = await sandbox.wrap({ argv, folder: root, env: passed, pty: false, ...narrower });
    outcomes.push(await run(launched));
  }
  const { level } = await sandbox.status();
  return { level, outcomes };
}

function run({ argv: [program, ...args], ...launched }: LaunchedCommand): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = {
      env: launched.env,
      cwd: launched.folder,
      timeout: 60_000,
      killSignal: "SIGKILL",
    } as const;
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? error.signal ?? "?") : 0, stdout, stderr });
    });
    child.on("close", () => launched.release());
    child.stdin?.end();
  });
}

/** The result of `createSandbox` when nothing stronger is available. */
function createWeaker(options: SandboxOptions): Sandbox {
  const { roots, settings, state } = options;
  const isRoot = process.getuid?.() === 0;
  const scratch = openScratch(state);
  const level = createUnshareLevel({
    unshare: findTrusted("unshare")!,
    setpriv: findTrusted("setpriv")!,
    isRoot,
    scratch,
  });
  const guard = createGuard({ roots, scratch, warn: () => {} });
  const plans = createPlanCache({ ...options, isRoot, scratch });
  const planFor = (readOnly = false) =>
    plans.get({
      isOurs: readOnly,
      changesProtected: readOnly,
      readOnly,
      protectedMounts: guard.mounts(),
      extra: [],
    });
  const mounts = planFor();
  return {
    limits: () => ({}),
    unconfined: async () => undefined,
    wrapApart: async () => undefined,
    allowProtected: async (path) => guard.allow(path),
    wrap: async (command) => ({
      ...level.launch(command, { mounts: planFor(command.readOnly), ownNetwork: command.network === "off" }),
      ...guard.enter({ changesProtected: false }),
    }),
    async status() {
      const trial = await tryLevel(level, { mounts, ownNetwork: false }, scratch);
      const reached = trial.works ? trial.level : "off";
      return { mode: settings.mode, level: reached, detail: trial.why, container: null, tried: [trial] };
    },
    openExchange: async () => openBoundExchange(scratch),
    close: async () => {},
  };
}
