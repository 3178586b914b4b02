import { expect, test } from "vitest";
import { killAgents } from "../scripts/torture/agent-kills.ts";
import { createRandom } from "../scripts/torture/report.ts";
import { AGENT_HOSTS } from "./agent-hosts.ts";

const SEVERAL_RUNS_MS = 300_000;

test.each(AGENT_HOSTS)(
  "an agent with a %s host that is killed at any moment goes on: nothing acknowledged is lost, no call runs twice",
  async (host) => {
    const { violations, facts } = await killAgents(undefined, host)(2, createRandom(3), () => {});
    expect(violations).toEqual([]);
    // Otherwise the kills came before anything could be lost.
    expect(facts).toMatch(/[1-9]\d* acknowledged events/);
  },
  SEVERAL_RUNS_MS,
);
