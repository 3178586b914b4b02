import { ToolError } from "@octant/core";
import type { Exchange, ProcessInfo } from "@octant/host";
import { stopCancelled } from "../proc/stop-cancelled.ts";
import type { TestOptions } from "./options.ts";
import { type SuiteOutcome, toOutcome } from "./outcome.ts";
import { toPlan } from "./plan.ts";
import { startReading } from "./reading.ts";
import { type Invocation, notInstalled, type SuiteRequest } from "./runner.ts";
import { runnerOf } from "./runners/index.ts";
import { writeSupport } from "./support.ts";
import { createTally } from "./tally.ts";

/** Runs one suite to its end, in any outcome. */
export async function execute(options: TestOptions, request: SuiteRequest): Promise<SuiteOutcome> {
  const { suite, signal } = request;
  const runner = runnerOf(suite.runner);
  using exchange = await options.workspace.processes.openExchange();
  writeSupport(exchange.path, runner.support ?? {});
  const invocation = runner.command(toPlan(options, request, exchange.inside));
  const tally = createTally(request.onTest);
  const started = await start(options, request, invocation, exchange);
  const reading = startReading(options, started, suite, runner, tally, exchange.path);
  const process = await untilEnd(options, started, signal, reading.stop);
  const complete = await reading.finish();
  return toOutcome(options, { suite, runner, process, tally, complete });
}

async function start(
  { workspace: { confinement, processes } }: TestOptions,
  { suite, timeoutMs, owner }: SuiteRequest,
  { argv, env }: Invocation,
  exchange: Exchange,
): Promise<ProcessInfo> {
  using cwd = confinement.openFolder(suite.folder);
  try {
    return await processes.start({
      argv,
      cwd,
      env: { NO_COLOR: "1", FORCE_COLOR: "0", ...env },
      timeoutMs,
      owner,
      exchange,
      label: argv.join(" "),
    });
  } catch (cause) {
    if (!(cause instanceof ToolError) || cause.code !== "EXEC_FAILED") throw cause;
    throw notInstalled(argv[0], `the tests of ${suite.id} need it on the PATH`);
  }
}

/** Longer than any timeout: the process has its own. */
const FOREVER_MS = 2 ** 31 - 1;

async function untilEnd(
  { workspace: { processes } }: TestOptions,
  { owner, proc_id }: ProcessInfo,
  signal: AbortSignal,
  stop: () => void,
): Promise<ProcessInfo> {
  try {
    return await processes.exited(owner, proc_id, FOREVER_MS, signal);
  } catch (cause) {
    stop();
    await stopCancelled(processes, owner, proc_id).catch(() => {
      // It ended by itself meanwhile.
    });
    throw cause;
  }
}
