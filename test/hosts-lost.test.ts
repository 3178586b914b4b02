import { expect, test } from "vitest";
import { canCreateNetworks } from "../scripts/torture/host-networks.ts";
import { hosts } from "../scripts/torture/hosts.ts";
import { createRandom } from "../scripts/torture/report.ts";
import { lacks } from "./ui/lacks.ts";

const cannot = lacks("nats-server", "bubblewrap") || !canCreateNetworks();

test.skipIf(cannot)(
  "sessions on hosts of other networks read their own writes and end once",
  async () => {
    const { violations, facts } = await hosts(3, createRandom(5), () => {});
    expect(violations).toEqual([]);
    expect(facts).toContain("6 of 6 writes read back");
  },
  240_000,
);
