import { expect, test } from "vitest";
import { hubKills } from "../scripts/torture/hub-kills.ts";
import { createRandom } from "../scripts/torture/report.ts";

test("sessions end as planned, and no event is lost or repeated, when their hub is killed", async () => {
  const { violations, facts } = await hubKills(1, createRandom(5), () => {});
  expect(violations).toEqual([]);
  expect(facts).toMatch(/^1 kills?, \d+ events/);
});
