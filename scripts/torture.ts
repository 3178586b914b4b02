// `npm run torture -- [--rounds N] [--kills N] [--reads N] [--seed S]`: what must hold under races, kills and swapped
// links. 0 leaves one out. Exits with 1 when anything did not hold.
import { parseArgs } from "node:util";
import { kills } from "./torture/kills.ts";
import { linkSwaps } from "./torture/link-swaps.ts";
import { races } from "./torture/races.ts";
import { createRandom, type Report, type Torture } from "./torture/report.ts";

const DEFAULTS = { rounds: 1_000, kills: 200, reads: 200_000 };

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: String(DEFAULTS.rounds) },
    kills: { type: "string", default: String(DEFAULTS.kills) },
    reads: { type: "string", default: String(DEFAULTS.reads) },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});

const TORTURES: readonly (readonly [keyof typeof DEFAULTS, Torture])[] = [
  ["rounds", races],
  ["kills", kills],
  ["reads", linkSwaps],
];

console.log(`seed ${values.seed}`);
const reports: (Report & { seconds: number })[] = [];
for (const [name, torture] of TORTURES) {
  const count = toCount(values[name], name);
  if (count === 0) continue;
  const start = performance.now();
  const report = await torture(count, createRandom(toCount(values.seed, "seed")), showProgress(name, count));
  reports.push({ ...report, seconds: (performance.now() - start) / 1000 });
}

console.log("| torture | result | seconds | |\n|---|---|---|---|");
for (const { what, facts, violations, seconds } of reports)
  console.log(
    `| ${what} | ${violations.length ? "**FAILED**" : "held"} | ${seconds.toFixed(1)} | ${facts} |`,
  );
for (const { what, violations } of reports)
  for (const violation of violations) console.error(`${what}: ${violation}`);
process.exitCode = reports.some(({ violations }) => violations.length > 0) ? 1 : 0;

function toCount(text: string, name: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  console.error(`--${name} takes a whole number, not '${text}'`);
  process.exit(2);
}

/** On a terminal only: a log has no use for it. */
function showProgress(name: string, count: number): (done: number) => void {
  let shown = 0;
  return (done) => {
    if (!process.stderr.isTTY || (performance.now() - shown < 100 && done < count)) return;
    shown = performance.now();
    process.stderr.write(`\r${name}: ${done} of ${count}${done === count ? "\n" : ""}`);
  };
}
