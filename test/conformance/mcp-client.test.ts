import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const SUITE = join(import.meta.dirname, "../../node_modules/conformance-0.2/dist/index.js");
const CLIENT = join(import.meta.dirname, "mcp-client.ts");

/** Scenarios that our client passes whole. Open: auth/scope-step-up, scope-from-www-authenticate, basic-cimd, pre-registration. */
const SCENARIOS = [
  "initialize",
  "tools_call",
  "elicitation-sep1034-client-defaults",
  "request-metadata",
  "http-standard-headers",
  "json-schema-ref-no-deref",
  "auth/metadata-default",
  "auth/token-endpoint-auth-basic",
  "auth/iss-supported",
];

test.each(SCENARIOS)(
  "our MCP client passes the conformance scenario %s",
  async (scenario) => {
    const args = ["client", "--command", `${process.execPath} ${CLIENT}`, "--scenario", scenario];
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [SUITE, ...args], (_, stdout, stderr) => resolve(stdout + stderr));
    });
    expect(output).toContain("OVERALL: PASSED");
    expect(output).not.toContain("OVERALL: FAILED");
  },
  60_000,
);
