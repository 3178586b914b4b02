import { expect, test } from "vitest";
import { agentKills } from "../scripts/torture/agent-kills.ts";
import { createRandom } from "../scripts/torture/report.ts";

test("an agent that is killed at any moment goes on: nothing acknowledged is lost, no call runs twice", async () => {
  const { violations } = await agentKills(3, createRandom(7), () => {});
  expect(violations).toEqual([]);
});
