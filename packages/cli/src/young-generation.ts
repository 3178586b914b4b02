import { flushCompileCache } from "node:module";
import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Half of it is for the objects of the moment, half for those that outlive it. More buys no speed (docs/decisions/0016). */
const ENOUGH_BYTES = 8 * 1024 * 1024;

/**
 * Under load V8 doubles the space for young objects up to 32 MB, and rarely gives it back: a flood of requests, broken
 * ones too, would make the server larger for good. Node can set that limit only before it starts; this is where it ends.
 */
export function keepYoungGenerationSmall(): void {
  const observer = new PerformanceObserver(() => {
    if (youngBytes() < ENOUGH_BYTES) return;
    observer.disconnect();
    // Compiled code is good only under the flags under which it was kept.
    flushCompileCache();
    setFlagsFromString("--semi-space-growth-factor=1");
  });
  observer.observe({ entryTypes: ["gc"] });
}

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? 0;
