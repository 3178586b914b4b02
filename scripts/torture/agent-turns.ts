import { createAgentBench, readingScript, residentMb, writeReadFile } from "../../bench/agent-start.ts";
import type { Report, Torture } from "./report.ts";

/** After this share of the turns everything is loaded, and the heap has its final size. */
const SETTLED = 0.2;
const MAX_GROWTH_MB = 30;
const MAX_RESUMED_MB = 200;

/** One session of many turns: its memory stays flat, and resuming it is cheap. Needs `npm run build`. */
export const agentTurns: Torture = async (count, _random, onProgress) => {
  await using bench = await createAgentBench(readingScript(count));
  writeReadFile(bench.project);
  const sizes: number[] = [];
  await bench.run(["read it"], (_, pid) => {
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
    facts: `${sizes.length} requests; ${Math.round(settled)} MB settled, ${Math.round(growth)} MB growth, ${Math.round(resumed)} MB resumed`,
    violations: [
      ...(growth > MAX_GROWTH_MB ? [`memory grew by ${Math.round(growth)} MB`] : []),
      ...(resumed > MAX_RESUMED_MB ? [`the resumed session takes ${Math.round(resumed)} MB`] : []),
    ],
  } satisfies Report;
};
