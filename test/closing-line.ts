import type { Reporter, TestModule } from "vitest/node";

/** Ends a run with one plain line that any script can read: `412 passed, 0 failed, 0 skipped`. */
export const closingLine: Reporter = {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const broken = modules.filter((module) => module.errors().length > 0).length + unhandled.length;
    console.log(`${count("passed")} passed, ${count("failed") + broken} failed, ${count("skipped")} skipped`);
  },
};
