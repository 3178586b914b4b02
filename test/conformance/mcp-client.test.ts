import { beforeAll, expect, test } from "vitest";
import { runClientScenarios } from "./client-scenarios.ts";

/** One of each kind; `npm run torture -- --only client-scenarios` runs all of both versions of the suite. */
const SCENARIOS = [
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

let mistakes: ReadonlyMap<string, readonly string[]>;
beforeAll(async () => {
  mistakes = await runClientScenarios("0.2", SCENARIOS);
});

test.each(SCENARIOS)("our MCP client passes the conformance scenario %s", (scenario) => {
  expect(mistakes.get(scenario)).toEqual([]);
});

test("our MCP client passes a scenario of the older suite whose issuer has another path", async () => {
  const scenario = "auth/2025-03-26-oauth-metadata-backcompat";
  expect((await runClientScenarios("0.1", [scenario])).get(scenario)).toEqual([]);
});

test("a client that does nothing fails its scenario", async () => {
  const nothing = await runClientScenarios("0.2", ["tools_call"], "true");
  expect(nothing.get("tools_call")).not.toEqual([]);
});
