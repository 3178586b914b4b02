import { describe, expect, inject, test } from "vitest";
import { hubPeerKills, hubPeerSchedules } from "../scripts/torture/hub-peers.ts";
import { createRandom } from "../scripts/torture/report.ts";

describe.skipIf(inject("missing").includes("postgresql"))("hubs that share a database and are killed", () => {
  test("sessions end as planned, and no event is lost or repeated", async () => {
    const { violations, facts } = await hubPeerKills(2, createRandom(7), () => {});
    expect(violations).toEqual([]);
    expect(facts).toMatch(/^2 kills, 1 crash of PostgreSQL, \d+ sessions, \d+ events/);
  });

  test("each firing of a schedule runs exactly once", async () => {
    const { violations } = await hubPeerSchedules(4, createRandom(7), () => {});
    expect(violations).toEqual([]);
  });
});
