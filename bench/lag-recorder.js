import { renameSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

// Loaded into the agent's process: SIGUSR2 writes how late its event loop was so far, in milliseconds.
const RESOLUTION_MS = 10;
const NS_PER_MS = 1e6;
const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
histogram.enable();
process.on("SIGUSR2", () => {
  const at = (percentile) => Math.max(histogram.percentile(percentile) / NS_PER_MS - RESOLUTION_MS, 0);
  const file = process.env["BENCH_LAG_FILE"] ?? "";
  writeFileSync(`${file}.part`, JSON.stringify({ p50: at(50), p99: at(99) }));
  renameSync(`${file}.part`, file);
});
