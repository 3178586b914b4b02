import { flushCompileCache } from "node:module";
import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Half of it is for the objects of the moment, half for those that outlive it. A quarter of it makes HTTP a twelfth slower. */
const YOUNG_BYTES = 32 * 1024 * 1024;
/** How much garbage may pile up on what lives before the engine looks for it; left to itself, thrice as much as lives. */
const GROWING_PERCENT = 30;

/** A server that is used as people use it stays below; above it there is a load. */
const LOADED_BYTES = 4 * 1024 * 1024;

/**
 * Under load V8 grows before it looks for garbage, and rarely gives memory back: a flood of requests, broken ones too,
 * would make the server larger for good. Node takes such limits only on its command line, the engine at any time. They
 * are set when there is a load: to set one takes long where compiled code has to be kept first.
 */
export function keepHeapSmall(): void {
  let isLoaded = false;
  const observer = new PerformanceObserver(() => {
    const young = youngBytes();
    if (!isLoaded && young >= LOADED_BYTES) {
      isLoaded = true;
      setFlag(`--heap-growing-percent=${GROWING_PERCENT}`);
    }
    if (young < YOUNG_BYTES) return;
    observer.disconnect();
    setFlag("--semi-space-growth-factor=1");
  });
  observer.observe({ entryTypes: ["gc"] });
}

function setFlag(flag: string): void {
  // Compiled code is good only under the flags under which it was kept.
  flushCompileCache();
  setFlagsFromString(flag);
}

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? 0;
