import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Bench, Case } from "./case.ts";
import { reads } from "./cases/reads.ts";
import { searches } from "./cases/searches.ts";
import { wholeServer } from "./cases/whole-server.ts";
import { writes } from "./cases/writes.ts";
import { describeMachine } from "./machine.ts";
import type { Effort } from "./measure.ts";
import { createRandom } from "./random.ts";
import { renderReport, toJson } from "./report.ts";
import { passes, type Row } from "./row.ts";
import { createStarters } from "./servers.ts";
import { growTree } from "./tree.ts";

const CASES: readonly Case[] = [...wholeServer, ...reads, ...writes, ...searches];
const NAMES = CASES.map(({ name }) => name).join(", ");

const FULL: Effort = { warmUpRounds: 20, minRounds: 20, maxRounds: 600, budgetMs: 8_000 };
const QUICK: Effort = { warmUpRounds: 5, minRounds: 7, maxRounds: 150, budgetMs: 1_500 };

const MAX_MINUTES = 10;
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
  say("growing the tree");
  const root = join(folder, "tree");
  mkdirSync(root);
  const tree = growTree(root, seed);
  const starters = createStarters(tree, folder);
  await using octant = await starters.startOctant();
  await using noOp = await starters.startNoOp();
  const effort = flags.quick ? QUICK : FULL;
  const bench: Bench = { tree, octant, noOp, effort, random: createRandom(seed), ...starters };

  const rows: Row[] = [];
  for (const one of cases) {
    say(one.name);
    rows.push(...(await one.run(bench)));
  }
  const report = { facts: { ...describeMachine(), seed, date: new Date().toISOString() }, rows };
  const markdown = renderReport(report);
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, "latest.md"), markdown);
  writeFileSync(join(RESULTS, "latest.json"), toJson(report));
  process.stdout.write(markdown);
  if (flags.strict && !rows.every(passes)) process.exitCode = 1;
}

function selectCases(only: readonly string[] | undefined): readonly Case[] {
  for (const name of only ?? []) {
    if (!CASES.some((one) => one.name === name))
      throw new Error(`there is no case '${name}'; cases: ${NAMES}`);
  }
  return only ? CASES.filter(({ name }) => only.includes(name)) : CASES;
}

/** A server that never answers must not hold up the machine for ever. */
function giveUpAfter(minutes: number): void {
  const stop = () => {
    say(`not done after ${minutes} minutes; the case named last hangs`);
    process.exit(1);
  };
  setTimeout(stop, minutes * 60_000).unref();
}

/** Goes with the process, however it ends. */
function createTempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "octant-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
  return folder;
}

const say = (line: string): void => void process.stderr.write(`bench: ${line}\n`);

try {
  await main();
} catch (cause) {
  process.exitCode = 1;
  say(cause instanceof Error ? cause.message : String(cause));
}
