import { createAgentBench, readingScript, residentMb, writeReadFile } from "../../bench/agent-start.ts";
import { toSpread } from "../../bench/measure.ts";
import type { Report, Torture } from "./report.ts";

/** By this share of the turns everything is loaded, and V8's young generation has grown to its full size. */
const SETTLED = 0.4;
const MAX_GROWTH_MB = 30;
const MAX_RESUMED_MB = 200;

/** One session of many turns: its memory stays flat, and resuming it is cheap. Needs `npm run build`. */
export const agentTurns: Torture = async (count, _random, onProgress) => {
  await using bench = await createAgentBench(readingScript(count));
  writeReadFile(bench.project);
  const sizes: number[] = [];
  const turns: number[] = [];
  let last = performance.now();
  await bench.run(["read it"], (_, pid) => {
    turns.push(performance.now() - last);
    last = performance.now();
    sizes.push(residentMb(pid));
    onProgress(Math.min(sizes.length, count));
  });
  const settled = sizes[Math.floor(sizes.length * SETTLED)] ?? 0;
  const growth = (sizes.at(-1) ?? 0) - settled;
  let resumed = 0;
  await bench.run(["--continue", "and now?"], (_, pid) => {
    resumed = residentMb(pid);
  });
  return {
    what: `${count} turns of one session`,
    facts: `${sizes.length} requests; ${Math.round(settled)} MB settled, ${Math.round(growth)} MB growth, ${Math.round(resumed)} MB resumed; ${toSpread(turns).p50.toFixed(1)} ms for a whole turn with provider, tool and log`,
    violations: [
      ...(growth > MAX_GROWTH_MB ? [`memory grew by ${Math.round(growth)} MB`] : []),
      ...(resumed > MAX_RESUMED_MB ? [`the resumed session takes ${Math.round(resumed)} MB`] : []),
    ],
  } satisfies Report;
};
