import type { Reporter, TestModule } from "vitest/node";
import { missingEngines } from "../scripts/system-packages.ts";

/**
 * Ends a run with one plain line that any script can read: `412 passed, 0 failed, 0 skipped`. The line before it names
 * the system packages whose tests were skipped.
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
    console.log(`${count("passed")} passed, ${count("failed") + broken} failed, ${count("skipped")} skipped`);
  },
};
