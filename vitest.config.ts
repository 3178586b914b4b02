import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { builtEntries } from "./test/built-entries.ts";
import { closingLine } from "./test/closing-line.ts";
import { CrossPackageFirst } from "./test/cross-package-first.ts";
import { smallWorkers } from "./test/small-workers.ts";

export default defineConfig({
  plugins: [builtEntries],
  test: {
    include: ["packages/*/{src,page}/**/*.test.ts", "packs/*/src/**/*.test.ts", "test/**/*.test.ts"],
    // No module has state and no test patches one, so the files of a worker share its modules: 334 s instead of 454 s.
    isolate: false,
    pool: smallWorkers,
    sequence: { sequencer: CrossPackageFirst },
    // Many tests wait for processes and leases rather than compute.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    // A CI machine may be busy with other work; tests that needed a retry are named at the end of the run.
    retry: process.env["CI"] === "true" ? 2 : 0,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    globalSetup: [
      "./test/built-command.ts",
      "./test/compile-cache.ts",
      "./test/private-home.ts",
      "./test/system-parts.ts",
    ],
    reporters: ["default", closingLine],
  },
});
