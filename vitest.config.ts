import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { closingLine } from "./test/closing-line.ts";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    // No module has state and no test patches one, so test files share their worker and its modules.
    isolate: false,
    globalSetup: [
      "./test/built-command.ts",
      "./test/compile-cache.ts",
      "./test/private-home.ts",
      "./test/system-parts.ts",
    ],
    reporters: ["default", closingLine],
    // A CI machine may be busy with other work; what needed the second try is named at the end of the run.
    retry: process.env["CI"] === "true" ? 1 : 0,
    // Many tests wait for processes rather than compute.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
  },
});
