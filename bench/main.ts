import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Bench, Case } from "./case.ts";
import { agent } from "./cases/agent.ts";
import { agentLong } from "./cases/agent-long.ts";
import { agentPeers } from "./cases/agent-peers.ts";
import { answerTokens } from "./cases/answer-tokens.ts";
import { code } from "./cases/code.ts";
import { consoles } from "./cases/console.ts";
import { consolePages } from "./cases/console-page.ts";
import { crew } from "./cases/crew.ts";
import { garden } from "./cases/garden.ts";
import { http } from "./cases/http.ts";
import { hubs } from "./cases/hub.ts";
import { mentions } from "./cases/mentions.ts";
import { net } from "./cases/net.ts";
import { policy } from "./cases/policy.ts";
import { processes } from "./cases/processes.ts";
import { reads } from "./cases/reads.ts";
import { sandbox } from "./cases/sandbox.ts";
import { searchEngine } from "./cases/search-engine.ts";
import { searches } from "./cases/searches.ts";
import { terminal } from "./cases/terminal.ts";
import { terminalPeers } from "./cases/terminal-peers.ts";
import { ui } from "./cases/ui.ts";
import { vcs } from "./cases/vcs.ts";
import { wholeServer } from "./cases/whole-server.ts";
import { wire } from "./cases/wire.ts";
import { writes } from "./cases/writes.ts";
import { toCallLine } from "./json-rpc.ts";
import { describeMachine } from "./machine.ts";
import { type Effort, toSpread } from "./measure.ts";
import { createRandom } from "./random.ts";
import { renderReport, toJson } from "./report.ts";
import { passes, type Row } from "./row.ts";
import { createStarters, type Starters } from "./servers.ts";
import { growTree, type Tree } from "./tree.ts";

// Writes come first: deleting files makes them slower.
const CASES: readonly Case[] = [
  ...writes,
  ...reads,
  ...searches,
  ...searchEngine,
  ...processes,
  ...sandbox,
  ...net,
  ...ui,
  ...http,
  ...consoles,
  ...consolePages,
  ...hubs,
  ...policy,
  ...code,
  ...agent,
  ...agentLong,
  ...agentPeers,
  ...crew,
  ...terminal,
  ...mentions,
  ...terminalPeers,
  ...wholeServer,
  ...answerTokens,
  ...vcs,
  ...wire,
  ...garden,
];
const NAMES = CASES.map(({ name }) => name).join(", ");

/** Each case is measured this often, and the median sitting counts. */
const SITTINGS = 3;
const FULL: Effort = { warmUpMs: 1_000, minRounds: 9, maxRounds: 1_000, budgetMs: 2_000 };
const QUICK: Effort = { warmUpMs: 300, minRounds: 3, maxRounds: 300, budgetMs: 500 };

const MAX_MINUTES = 25;
const SLOW_CREATE_MS = 0.1;
const DEFAULT_SEED = 20261115;
const RESULTS = join(import.meta.dirname, "results");

const USAGE = `npm run bench -- [flags]

  --only NAME   one case; may be given again (${NAMES})
  --quick       fewer rounds: a look, not a result
  --strict      exit 1 when a bar is missed
  --seed N      another tree and another order of samples (${DEFAULT_SEED})
`;

async function main(): Promise<void> {
  const { values: flags } = parseArgs({
    options: {
      only: { type: "string", multiple: true },
      quick: { type: "boolean", default: false },
      strict: { type: "boolean", default: false },
      seed: { type: "string", default: String(DEFAULT_SEED) },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (flags.help) return void process.stdout.write(USAGE);
  const cases = selectCases(flags.only);
  const seed = Number(flags.seed);

  giveUpAfter(MAX_MINUTES);
  const folder = createTempFolder();
  warnOfSlowCreates(folder);
  say("growing the tree");
  const root = join(folder, "tree");
  mkdirSync(root);
  const tree = growTree(root, seed);
  const starters = createStarters(tree, folder);
  await fillCompileCache(starters, tree);
  const effort = flags.quick ? QUICK : FULL;
  const room: Room = { ...starters, tree, effort, random: createRandom(seed) };

  const rows: Row[] = [];
  const failed: string[] = [];
  for (const one of cases) {
    say(one.name);
    const sittings: Row[] = [];
    try {
      for (let n = 0; n < SITTINGS; n++) sittings.push(await sit(one, room, n));
      rows.push(medianOf(sittings));
    } catch (cause) {
      // The other rows are reported all the same.
      failed.push(`${one.name}: ${cause instanceof Error ? cause.message : String(cause)}`);
    }
  }
  const report = { facts: { ...describeMachine(), seed, date: new Date().toISOString() }, rows };
  const markdown = renderReport(report);
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, "latest.md"), markdown);
  writeFileSync(join(RESULTS, "latest.json"), toJson(report));
  process.stdout.write(markdown);
  for (const line of failed) say(`not measured: ${line}`);
  if (failed.length > 0 || (flags.strict && !rows.every(passes))) process.exitCode = 1;
}

/** The first start stores the handshake, the second one the code that a client's first call loads. */
async function fillCompileCache({ startOctant }: Starters, { smallFiles }: Tree): Promise<void> {
  for (let start = 0; start < 2; start++) {
    await using server = await startOctant();
    await server.request("tools/list");
    await server.exchange(toCallLine("fs", { action: "read", uri: smallFiles[0] }));
    await server.finish();
  }
}

type Room = Omit<Bench, "octant" | "noOp" | "tree"> & { readonly tree: Tree };

/** Runs a case on fresh servers: their placement by the system must not decide the result. */
async function sit(one: Case, room: Room, n: number): Promise<Row> {
  await using octant = await room.startOctant();
  await using noOp = await room.startNoOp();
  const scratchFolder = `${one.name.replaceAll(/\W+/g, "-")}-${n}`;
  mkdirSync(join(room.tree.root, scratchFolder));
  // Awaited here: the servers live until this function returns.
  return await one.run({ ...room, tree: { ...room.tree, scratchFolder }, octant, noOp });
}

function medianOf(sittings: readonly Row[]): Row {
  const sorted = sittings.toSorted((a, b) => a.figure - b.figure);
  const figures = sorted.map(({ figure }) => figure);
  return { ...sorted[sorted.length >> 1]!, figures };
}

function selectCases(only: readonly string[] | undefined): readonly Case[] {
  for (const name of only ?? []) {
    if (!CASES.some((one) => one.name === name))
      throw new Error(`there is no case '${name}'; cases: ${NAMES}`);
  }
  return only ? CASES.filter(({ name }) => only.includes(name)) : CASES;
}

/** A server that never answers must not block the machine for ever. */
function giveUpAfter(minutes: number): void {
  const stop = () => {
    say(`not done after ${minutes} minutes; the case named last hangs`);
    process.exit(1);
  };
  setTimeout(stop, minutes * 60_000).unref();
}

/** Removed with the process, however it ends. */
function createTempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "octant-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
  return folder;
}

/** On ext4 creating files is ten times slower for minutes after thousands were deleted nearby. */
function warnOfSlowCreates(folder: string): void {
  const samples = Array.from({ length: 50 }, (_, n) => {
    const start = performance.now();
    closeSync(openSync(join(folder, `probe-${n}`), "wx"));
    return performance.now() - start;
  });
  const { p50 } = toSpread(samples);
  if (p50 < SLOW_CREATE_MS) return;
  say(`making a file in ${folder} takes ${p50.toFixed(2)} ms, so write and patch will look bad;`);
  say("wait some minutes, or set TMPDIR to a folder where nothing was deleted of late, such as /var/tmp");
}

const say = (line: string): void => void process.stderr.write(`bench: ${line}\n`);

try {
  await main();
} catch (cause) {
  process.exitCode = 1;
  say(cause instanceof Error ? cause.message : String(cause));
}
