import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ToolError } from "@octant/core";
import {
  type Confinement,
  type Exchange,
  isProgram,
  isWithin,
  type Path,
  type ProcessInfo,
} from "@octant/host";
import { stopCancelled } from "../proc/stop-cancelled.ts";
import { readJson, toData } from "../ws/formats/data.ts";
import { createProjectFiles } from "../ws/project-files.ts";
import type { TestCase } from "./case.ts";
import { ownPath } from "./failure.ts";
import { follow, growingFile } from "./following.ts";
import { type SuiteOutcome, toOutcome } from "./outcome.ts";
import { createEventsParser } from "./parsers/events.ts";
import { createTapGuess } from "./parsers/tap.ts";
import { toIoError } from "./regular-file.ts";
import { readReport, readReports } from "./reports.ts";
import {
  type Invocation,
  notInstalled,
  type Plan,
  type Runner,
  type SuiteRequest,
  type TestOptions,
} from "./runner.ts";
import { runnerOf } from "./runners/index.ts";
import { toEventsFile } from "./runners/node.ts";
import { toReportFile } from "./runners/own-report.ts";
import { type PlainScript, parseScript } from "./script.ts";
import type { Suite } from "./suites.ts";
import { Tally } from "./tally.ts";

/** Runs one suite to its end, in any outcome. */
export async function execute(options: TestOptions, request: SuiteRequest): Promise<SuiteOutcome> {
  const { suite, signal } = request;
  const runner = runnerOf(suite.runner);
  using exchange = await options.workspace.processes.openExchange();
  writeSupport(exchange.path, runner.support ?? {});
  const invocation = runner.command(toPlan(options, request, exchange.inside));
  const isElsewhere = createIsElsewhere(request);
  let elsewhere = 0;
  const tally = new Tally((test) => {
    if (isElsewhere(test)) elsewhere += 1;
    request.onTest(test);
  });
  const started = await start(options, request, invocation, exchange);
  const reading = startReading(options, started, suite, runner, tally, exchange.path);
  const process = await untilEnd(options, started, signal, reading.stop);
  const complete = await reading.finish();
  const { note } = invocation;
  return toOutcome(options, { suite, runner, process, tally, complete, elsewhere, note });
}

/** Whether a test is not in the file that was selected, as far as its runner names files. */
function createIsElsewhere({ suite, selection }: SuiteRequest): (test: TestCase) => boolean {
  if (selection?.by !== "file") return () => false;
  const selected = resolve(suite.folder, selection.path);
  return ({ file }) => file !== undefined && resolve(suite.folder, file) !== selected;
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

/** Writes a runner's reporter and similar files where the runner can load them. */
function writeSupport(folder: string, files: Readonly<Record<string, string>>): void {
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
  } catch (cause) {
    throw toIoError("the temporary folder", cause);
  }
}

/** The input from which a runner builds its command. */
function toPlan(
  { workspace: { confinement }, env }: TestOptions,
  { suite, selection, workers, coverage }: SuiteRequest,
  scratch: string,
): Plan {
  return {
    suite,
    selection,
    workers,
    coverage,
    scratch,
    nearest: (name) => nearestOf(confinement, suite, name),
    onPath: (program) =>
      (env["PATH"] ?? "").split(":").some((folder) => isProgram(join(folder || ".", program))),
    script: scriptOf(confinement, suite),
    text: (path) => createProjectFiles(confinement, suite.folder).text(path),
    isFile: (word) =>
      /[*?[{]/.test(word) || ownPath(word.replace(/\/+$/, ""), suite.folder, confinement) !== undefined,
  };
}

/** `npm run test` is a script of package.json. */
function scriptOf(confinement: Confinement, { folder, command }: Suite): PlainScript | undefined {
  const [, verb, name] = command;
  if (verb !== "run" || name === undefined) return undefined;
  const manifest = readJson(createProjectFiles(confinement, folder).text("package.json") ?? "");
  const { text } = toData(manifest.value).get("scripts", name);
  return text === undefined ? undefined : parseScript(text);
}

function nearestOf(confinement: Confinement, suite: Suite, name: Path): Path | undefined {
  let folder = suite.folder;
  while (isWithin(suite.root, folder)) {
    const found = ownPath(`${folder === "/" ? "" : folder}/${name}`, suite.folder, confinement);
    if (found !== undefined || folder === "/") return found;
    folder = folder.slice(0, folder.lastIndexOf("/")) || "/";
  }
  return undefined;
}

/** Reads results as they come; `finish` reads the rest and returns whether the runner's report is complete. */
function startReading(
  { workspace: { confinement, processes } }: TestOptions,
  { owner, proc_id, started_at }: ProcessInfo,
  suite: Suite,
  { reads }: Runner,
  tally: Tally,
  scratch: string,
): ReturnType<typeof follow> {
  const finishReports = () => readReports(confinement, suite.folder, started_at, tally);
  if (reads.from === "reports") return { stop: () => {}, finish: finishReports };
  if (reads.from === "report")
    return { stop: () => {}, finish: () => readReport(toReportFile(scratch), tally) };
  if (reads.from === "events")
    return follow(growingFile(toEventsFile(scratch)), createEventsParser(tally), tally);
  const stdout = processes.output(owner, proc_id, "stdout");
  const createParser = reads.from === "stdout" ? reads.parser(suite) : createTapGuess;
  const following = follow((offset, length) => stdout.read(offset, length), createParser(tally), tally);
  if (reads.from === "stdout") return following;
  return {
    stop: following.stop,
    async finish() {
      const complete = await following.finish();
      return complete ?? finishReports();
    },
  };
}
