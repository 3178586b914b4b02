import { createAgentBench, readingScript, residentMb, writeReadFile } from "../agent-start.ts";
import type { Case } from "../case.ts";
import { toSpread } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

const MESSAGES = 1_000;
const RESUMES = 5;
const RESUME_MS = 1_000;

/** The cost of resuming a long session. `npm run torture -- --only agent-turns` checks its memory. */
export const agentLong: readonly Case[] = [{ name: "agent: resume", run: resume }];

async function resume(): Promise<Row> {
  await using bench = await createAgentBench(readingScript(MESSAGES / 2));
  writeReadFile(bench.project);
  await bench.run(["read it"]);
  const times: number[] = [];
  const sizes: number[] = [];
  for (let at = 0; at < RESUMES; at++)
    times.push(await bench.run(["--continue", "and now?"], (_, pid) => sizes.push(residentMb(pid))));
  const time = toSpread(times);
  return {
    name: "agent: resume",
    unit: "ms",
    octant: time,
    figure: time.p50,
    bar: atMost(RESUME_MS),
    note: `octant run --continue of ${MESSAGES} messages, until the provider has the request; ${Math.round(toSpread(sizes).p50)} MB resident then`,
  };
}
