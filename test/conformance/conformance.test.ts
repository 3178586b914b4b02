import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { startFixtureServer } from "./fixture-server.ts";

const TIMEOUT_MS = 180_000;
const SCENARIO = /^(?<mark>[✓✗]) (?<name>[\w-]+): (?<passed>\d+) passed, (?<failed>\d+) failed/gm;
/** The suite's terminal colours. */
const COLOURS = /\u001b\[\d+m/g;

/** Runs all scenarios of a suite against the fixture, and returns its summary. */
async function runSuite(suite: string) {
  const server = await startFixtureServer();
  onTestFinished(() => server.close());
  const program = join(
    dirname(createRequire(import.meta.url).resolve(`${suite}/package.json`)),
    "dist/index.js",
  );
  const child = spawn(process.execPath, [program, "server", "--url", server.url, "--suite", "all"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const summary = [...output.replace(COLOURS, "").matchAll(SCENARIO)].map(({ groups }) => groups ?? {});
  return {
    code,
    summary,
    failed: summary.filter(({ mark }) => mark !== "✓"),
    told: [output, errors, ...server.log].join("\n"),
  };
}

describe.each([
  { suite: "conformance-0.2", scenarios: 65 },
  { suite: "conformance-0.1", scenarios: 32 },
])("the official suite, $suite", ({ suite, scenarios }) => {
  test("every scenario passes, and none is skipped", { timeout: TIMEOUT_MS }, async () => {
    const { code, summary, failed, told } = await runSuite(suite);
    expect(failed, told.slice(-20_000)).toEqual([]);
    expect(summary).toHaveLength(scenarios);
    expect(code).toBe(0);
  });
});
