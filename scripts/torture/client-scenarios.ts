import {
  CONFORMANCE_VERSIONS,
  listClientScenarios,
  runClientScenarios,
} from "../../test/conformance/client-scenarios.ts";
import type { Report, Torture } from "./report.ts";

/** Runs the first scenarios of both versions of the official conformance suite against our MCP client. */
export const clientScenarios: Torture = async (count, _random, onProgress) => {
  const violations: string[] = [];
  let done = 0;
  for (const version of CONFORMANCE_VERSIONS)
    for (const scenario of (await listClientScenarios(version)).slice(0, count)) {
      const complaints = (await runClientScenarios(version, [scenario])).get(scenario) ?? [];
      violations.push(...complaints.map((complaint) => `${version} ${scenario}: ${complaint}`));
      onProgress(++done);
    }
  return {
    what: "conformance of the MCP client",
    facts: `${done} scenarios of the suites ${CONFORMANCE_VERSIONS.join(" and ")}`,
    violations,
  } satisfies Report;
};
