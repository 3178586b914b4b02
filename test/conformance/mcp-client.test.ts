import { expect, test } from "vitest";
import { runClientScenario } from "./run-client-scenario.ts";

/** One of each kind; `npm run torture -- --only client-scenarios` runs all of both versions of the suite. */
const SCENARIOS = [
  "initialize",
  "tools_call",
  "elicitation-sep1034-client-defaults",
  "request-metadata",
  "http-custom-headers",
  "json-schema-2020-12-preservation",
  "auth/metadata-var3",
  "auth/basic-cimd",
  "auth/scope-step-up",
  "auth/pre-registration",
  "auth/iss-supported",
  "auth/client-credentials-jwt",
  "auth/enterprise-managed-authorization",
  "auth/dpop-nonce",
];

test.each(SCENARIOS)("our MCP client passes the conformance scenario %s", async (scenario) => {
  expect(await runClientScenario("0.2", scenario)).toEqual([]);
});

test("our MCP client passes a scenario of the older suite whose issuer has another path", async () => {
  expect(await runClientScenario("0.1", "auth/2025-03-26-oauth-metadata-backcompat")).toEqual([]);
});
