import type { Reporter, TestModule } from "vitest/node";
import { missingEngines } from "../scripts/system-packages.ts";

/** Of a run with more files; they are what makes it long. */
const SLOWEST = 10;

/**
 * Ends a run with one plain line that any script can read: `412 passed, 0 failed, 0 skipped`. The lines before it name
 * the slowest files, and the system packages whose tests were skipped.
 */
export const closingLine: Reporter = {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const broken = modules.filter((module) => module.errors().length > 0).length + unhandled.length;
    for (const test of tests)
      if (test.diagnostic()?.flaky) console.log(`Passed only after a retry: ${test.fullName}`);
    // What the set-up found: probing again blocks this process, which then reports workers that ended as still alive.
    const skipped = modules[0]?.project.getProvidedContext().missing ?? [];
    const missing = skipped.filter((name) => !missingEngines().includes(name));
    if (missing.length > 0)
      console.log(`Skipped where they are needed: ${missing.join(" ")} (apt-get install them)`);
    if (modules.length > SLOWEST) printSlowest(modules);
    console.log(`${count("passed")} passed, ${count("failed") + broken} failed, ${count("skipped")} skipped`);
  },
};

function printSlowest(modules: readonly TestModule[]): void {
  const timed = modules.map((module) => {
    const { duration, collectDuration, setupDuration } = module.diagnostic();
    return { name: module.relativeModuleId, ms: duration + collectDuration + setupDuration };
  });
  console.log("The slowest files:");
  for (const { name, ms } of timed.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST))
    console.log(`${(ms / 1_000).toFixed(1).padStart(7)} s  ${name}`);
}
