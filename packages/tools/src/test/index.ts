import { closeSync, openSync } from "node:fs";
import { action, type Backend, defineTool, ownerFor, pagingInput, RunId } from "@octant/core";
import { OWN_COMMANDS } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { list } from "./list.ts";
import { RunResult, resultText, toResult } from "./result.ts";
import { run } from "./run.ts";
import type { TestOptions } from "./runner.ts";
import { createRuns, type Runs } from "./runs.ts";

export type { TestOptions } from "./runner.ts";

/** Runs tests of any runner and parses the results: a preset over processes. */
export const test = (options: TestOptions) => {
  const runs = createRuns(options.workspace.state);
  return defineTool({
    name: "test",
    summary: "Run the project's tests with its own runner and read the results.",
    actions: { list: list(options), run: run(options, runs), status: status(runs) },
    backends: createRunnerProbe(options),
  });
};

const EXAMPLE_RUN = "run_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";

const status = (runs: Runs) =>
  action({
    summary: "Show a test run's progress and its failures, page by page.",
    ...INSPECT,
    input: z.strictObject({ run_id: RunId, ...pagingInput(20, 200) }),
    output: RunResult,
    errors: ["NOT_FOUND", "INVALID_CURSOR"],
    examples: [{ title: "Read the result", input: { run_id: EXAMPLE_RUN }, fails: "NOT_FOUND" }],
    text: resultText,
    run({ run_id, limit }, ctx) {
      const { summary, failures } = runs.get(ownerFor(ctx.caller), run_id);
      const from = ctx.resume(z.int().min(0)) ?? 0;
      const result = toResult(summary, failures, from, limit);
      if (result.more_failures > 0) ctx.more(from + result.failures.length);
      return result;
    },
  });

interface Probe {
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  /** How to install it. */
  readonly how: string;
}

/** System programs that runners need; Node runners come with each project. */
const PROBES: readonly Probe[] = [
  { name: "node:test", argv: ["node", "--version"], how: "install Node 20 or later" },
  { name: "npm", argv: ["npm", "--version"], how: "it comes with Node" },
  { name: "unittest", argv: ["python3", "--version"], how: "install Python 3" },
  { name: "pytest", argv: ["python3", "-m", "pytest", "--version"], how: "python3 -m pip install pytest" },
  { name: "go test", argv: ["go", "version"], how: "https://go.dev/dl, or golang-go on Debian" },
  { name: "cargo test", argv: ["cargo", "--version"], how: "https://rustup.rs, or cargo on Debian" },
  { name: "maven", argv: ["mvn", "--version"], how: "https://maven.apache.org, or maven on Debian" },
  { name: "gradle", argv: ["gradle", "--version"], how: "https://gradle.org/install" },
];

const TIMEOUT_MS = 4_000;
const VERSION = /\d+(?:\.\d+)+/;

/** Asks every program for its version, concurrently and only once: they do not change under a running server. */
function createRunnerProbe(options: TestOptions): () => Promise<Backend[]> {
  let found: Promise<Backend[]> | undefined;
  return () => {
    found ??= Promise.all(PROBES.map((probe) => ask(options, probe)));
    return found;
  };
}

async function ask({ workspace: { processes } }: TestOptions, probe: Probe): Promise<Backend> {
  const { name, argv, how } = probe;
  // Not in the project: python would run its modules, and cargo, go and npm obey its settings.
  using cwd = openTop();
  const started = await processes
    .start({ argv, cwd, timeoutMs: TIMEOUT_MS, owner: OWN_COMMANDS, label: argv.join(" ") })
    .catch(() => undefined); // Not installed.
  const missing: Backend = { name, available: false, detail: `${argv.join(" ")} does not work here: ${how}` };
  if (started === undefined) return missing;
  const { proc_id } = started;
  const { exit_code } = await processes.exited(
    OWN_COMMANDS,
    proc_id,
    TIMEOUT_MS,
    AbortSignal.timeout(2 * TIMEOUT_MS),
  );
  if (exit_code !== 0) return missing;
  const [version] =
    VERSION.exec(processes.output(OWN_COMMANDS, proc_id, "stdout").read(0, 1_024).bytes.toString()) ??
    VERSION.exec(processes.output(OWN_COMMANDS, proc_id, "stderr").read(0, 1_024).bytes.toString()) ??
    [];
  return { name, available: true, ...(version !== undefined && { version }), detail: argv[0] };
}

function openTop() {
  const fd = openSync("/", "r");
  return { fd, path: "/", [Symbol.dispose]: () => closeSync(fd) };
}
