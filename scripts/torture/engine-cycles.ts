import { runTests } from "./fuzz.ts";
import type { Torture } from "./report.ts";

const TEST = "packages/hub/src/engines/engines.test.ts";

/** The test of the engines that starts and stops a container again and again, on every engine of this machine. */
export const engineCycles: Torture = async (count) => {
  const flags = ["--testNamePattern", "starts and stops leave nothing behind", "--testTimeout", "0"];
  const { facts, violations } = await runTests([TEST, ...flags], { ENGINE_CYCLES: String(count) });
  return {
    what: `${count} starts and stops of a container on each engine`,
    facts,
    violations: facts.startsWith("0 passed") ? ["no engine of this machine runs containers"] : violations,
  };
};
