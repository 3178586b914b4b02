import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Torture } from "./report.ts";

const ROOT = join(import.meta.dirname, "../..");
const FILES = [
  "test/actions.test.ts",
  "test/code-actions.test.ts",
  "test/patch-differential.test.ts",
  "test/vcs-differential.test.ts",
  "packages/host/src/checkpoints/checkpoints.test.ts",
  "packages/host/src/edits/transaction.test.ts",
  "packages/host/src/files/list.test.ts",
  "packages/host/src/patch/round-trip.test.ts",
  "packages/host/src/search/trigrams/indexed-ripgrep.test.ts",
  "packages/mcp/src/oracle.test.ts",
  "packages/mcp/src/http/oracle.test.ts",
  "packages/scripted-provider/src/kills.test.ts",
  "packages/tools/src/fs/list.test.ts",
  "packages/tools/src/ws/detect.test.ts",
];

/** The randomised tests with `count` runs each. A failure prints the seed and the smallest failing input. */
export const fuzz: Torture = async (count) => ({
  what: `${count} random inputs for each action, patch, history, listing, checkpoint and conversation`,
  ...(await runTests(FILES, { FUZZ_RUNS: String(count) })),
});

/** Tests whose size is set in the environment. */
export async function runTests(files: readonly string[], env: NodeJS.ProcessEnv) {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", ...files], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return {
    facts: output.trimEnd().split("\n").at(-1) ?? "",
    violations: code === 0 ? [] : [output],
  };
}
