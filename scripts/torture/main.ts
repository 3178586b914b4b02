import { parseArgs } from "node:util";
import { agentKills } from "./agent-kills.ts";
import { agentTasks } from "./agent-tasks.ts";
import { agentTurns } from "./agent-turns.ts";
import { bridgeBroken, bridgeCrowd } from "./bridge.ts";
import { checkpointKills, checkpointSequences, turnSequences } from "./checkpoints.ts";
import { clientScenarios } from "./client-scenarios.ts";
import { edgesCrowd } from "./edges-crowd.ts";
import { edgesLines } from "./edges-lines.ts";
import { edgesMalformed } from "./edges-malformed.ts";
import { edgesSlow } from "./edges-slow.ts";
import { engineCycles } from "./engine-cycles.ts";
import { fuzz } from "./fuzz.ts";
import { hostCapacity } from "./host-capacity.ts";
import { hosts } from "./hosts.ts";
import { hubCapacity } from "./hub-capacity.ts";
import { hubKills } from "./hub-kills.ts";
import { hubPeerKills, hubPeerSchedules } from "./hub-peers.ts";
import { kills } from "./kills.ts";
import { linkSwaps } from "./link-swaps.ts";
import { natsKills } from "./nats-kills.ts";
import { commands } from "./processes-commands.ts";
import { devServer } from "./processes-dev-server.ts";
import { endings } from "./processes-endings.ts";
import { flood } from "./processes-flood.ts";
import { serverKills } from "./processes-kills.ts";
import { longJob } from "./processes-long-job.ts";
import { repls } from "./processes-repls.ts";
import { wholeOutput } from "./processes-whole.ts";
import { races } from "./races.ts";
import { createRandom, type Report, type Torture } from "./report.ts";
import { uiSessions } from "./ui-sessions.ts";
import { wireMalformed } from "./wire-malformed.ts";

interface Entry {
  readonly torture: Torture;
  /** The unit depends on the torture: rounds, kills, megabytes, minutes. */
  readonly count: number;
  /** It mostly waits, so the others run meanwhile. */
  readonly alongside?: boolean;
}

const TORTURES: Readonly<Record<string, Entry>> = {
  minutes: { torture: longJob, count: 10, alongside: true },
  rounds: { torture: races, count: 1_000 },
  kills: { torture: kills, count: 200 },
  reads: { torture: linkSwaps, count: 200_000 },
  "server-kills": { torture: serverKills, count: 100 },
  endings: { torture: endings, count: 10 },
  "flood-megabytes": { torture: flood, count: 600 },
  "dev-servers": { torture: devServer, count: 10 },
  commands: { torture: commands, count: 1_000 },
  "whole-outputs": { torture: wholeOutput, count: 1_000 },
  exchanges: { torture: repls, count: 10 },
  "broken-frames": { torture: edgesMalformed, count: 10_000 },
  "broken-lines": { torture: edgesLines, count: 10_000 },
  "broken-messages": { torture: wireMalformed, count: 10_000 },
  "nats-jobs": { torture: natsKills, count: 1_000 },
  "ui-sessions": { torture: uiSessions, count: 50 },
  "crowd-clients": { torture: edgesCrowd, count: 1_000 },
  "agent-kills": { torture: agentKills, count: 200 },
  "hub-kills": { torture: hubKills, count: 200 },
  "hub-sessions": { torture: hubCapacity, count: 50 },
  "hub-peer-kills": { torture: hubPeerKills, count: 200 },
  "hub-peer-firings": { torture: hubPeerSchedules, count: 500 },
  hosts: { torture: hosts, count: 1_000 },
  "host-sessions": { torture: hostCapacity, count: 8 },
  "engine-cycles": { torture: engineCycles, count: 100 },
  "agent-tasks": { torture: agentTasks, count: 20 },
  "agent-turns": { torture: agentTurns, count: 2_000 },
  "client-scenarios": { torture: clientScenarios, count: 100 },
  "bridge-broken": { torture: bridgeBroken, count: 10_000 },
  "bridge-clients": { torture: bridgeCrowd, count: 500 },
  "slow-clients": { torture: edgesSlow, count: 600 },
  "checkpoint-sequences": { torture: checkpointSequences, count: 500 },
  "turn-sequences": { torture: turnSequences, count: 200 },
  "checkpoint-kills": { torture: checkpointKills, count: 200 },
  "fuzz-runs": { torture: fuzz, count: 300 },
};
const NAMES = Object.keys(TORTURES);

const { values: flags } = parseArgs({
  options: {
    ...Object.fromEntries(NAMES.map((name) => [name, { type: "string" as const }])),
    only: { type: "string", multiple: true, default: NAMES },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
for (const name of flags.only) if (!NAMES.includes(name)) giveUp(`--only takes ${NAMES.join(", ")}`);
// The flags named after tortures are unknown to the compiler.
const counts = flags as unknown as Readonly<Record<string, string | undefined>>;
const countOf = (name: string, { count }: Entry) => toCount(counts[name] ?? String(count), name);

console.log(`seed ${flags.seed}`);
const chosen = Object.entries(TORTURES).filter(
  ([name, entry]) => flags.only.includes(name) && countOf(name, entry) > 0,
);
const waiting = chosen.filter(([, { alongside }]) => alongside).map(([name, entry]) => run(name, entry));
const reports: TimedReport[] = [];
for (const [name, entry] of chosen) if (!entry.alongside) reports.push(await run(name, entry));
reports.push(...(await Promise.all(waiting)));

console.log("| torture | result | seconds | |\n|---|---|---|---|");
for (const { what, facts, violations, seconds } of reports)
  console.log(
    `| ${what} | ${violations.length ? "**FAILED**" : "held"} | ${seconds.toFixed(1)} | ${facts} |`,
  );
for (const { what, violations } of reports)
  for (const violation of violations) console.error(`${what}: ${violation}`);
process.exitCode = reports.some(({ violations }) => violations.length > 0) ? 1 : 0;

type TimedReport = Report & { readonly seconds: number };

async function run(name: string, entry: Entry): Promise<TimedReport> {
  const count = countOf(name, entry);
  const start = performance.now();
  const random = createRandom(toCount(flags.seed, "seed"));
  const report = await entry.torture(count, random, showProgress(name, count));
  return { ...report, seconds: (performance.now() - start) / 1000 };
}

function toCount(text: string, name: string): number {
  return /^\d+$/.test(text) ? Number(text) : giveUp(`--${name} takes a whole number, not '${text}'`);
}

function giveUp(message: string): never {
  console.error(message);
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
