import { expect, test } from "vitest";
import { bridgeBroken, bridgeCrowd } from "../scripts/torture/bridge.ts";
import { createRandom } from "../scripts/torture/report.ts";

// With larger numbers in `npm run torture`.
test("broken tokens are rejected, and broken frames do not stop the bridge", async () => {
  const { violations } = await bridgeBroken(60, createRandom(1), () => {});
  expect(violations).toEqual([]);
});

test("many clients of many owners see only their own answers", async () => {
  const { violations } = await bridgeCrowd(60, createRandom(2), () => {});
  expect(violations).toEqual([]);
});
