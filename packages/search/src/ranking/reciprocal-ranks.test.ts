import { expect, test } from "vitest";
import { addReciprocalRanks } from "./reciprocal-ranks.ts";

test("a rank in both lists beats the first rank in one", () => {
  const sum = addReciprocalRanks(Float64Array.of(9, 8, 0, 0), Float64Array.of(0, 0.5, 0.9, -1));
  const order = [...sum.keys()].sort((x, y) => (sum[y] ?? 0) - (sum[x] ?? 0));
  expect(order.slice(0, 1)).toEqual([1]);
  expect(sum[3]).toBe(0);
});
