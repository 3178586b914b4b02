import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { closingLine } from "./test/closing-line.ts";

const UNIT_TESTS = ["packages/*/src/**/*.test.ts"];
/** Those that start many processes. */
const SPAWNING = [
  "packages/host/src/{checkpoints,git,language-servers,patch,processes,sandbox,search}/**/*.test.ts",
  "packages/tools/src/{proc,test,vcs}/**/*.test.ts",
];

interface Files {
  readonly include: string[];
  readonly exclude?: string[];
  readonly isolate?: boolean;
}

const toProject = (name: string, files: Files) => ({
  test: {
    name,
    ...files,
    // A CI machine may be busy with other work; what needed the second try is named at the end of the run.
    retry: process.env["CI"] === "true" ? 1 : 0,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
  },
});

export default defineConfig({
  test: {
    projects: [
      // No module has state and no test patches one, so these share their worker and its modules.
      toProject("shared", { include: UNIT_TESTS, exclude: SPAWNING, isolate: false }),
      // A worker that has run many files is large, and a large process takes long to start another.
      toProject("own worker", { include: [...SPAWNING, "test/**/*.test.ts"] }),
    ],
    globalSetup: [
      "./test/built-command.ts",
      "./test/compile-cache.ts",
      "./test/private-home.ts",
      "./test/system-parts.ts",
    ],
    reporters: ["default", closingLine],
    // Many tests wait for processes rather than compute: on two cores three workers need 527 s instead of 588 s.
    maxWorkers: Math.max(3, availableParallelism() - 1),
  },
});
