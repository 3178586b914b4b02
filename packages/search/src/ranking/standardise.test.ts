import { expect, test } from "vitest";
import { addStandardised, agreementOf, ranksIn } from "./standardise.ts";

const add = (a: Float64Array, b: Float64Array, weight: number) =>
  addStandardised([
    { scores: a, weight: 1 },
    { scores: b, weight },
  ]);

test("lists of different scales count equally, the second by its weight", () => {
  const [words, meaning] = [Float64Array.of(100, 300, 0, 200), Float64Array.of(0.9, 0.1, 0.5, 0.4)];
  const order = (weight: number) => {
    const sum = add(words, meaning, weight);
    return [...sum.keys()].sort((a, b) => (sum[b] ?? 0) - (sum[a] ?? 0));
  };
  expect(order(0)[0]).toBe(1);
  expect(order(10)[0]).toBe(0);
});

test("an entry of the first list stays even when the second speaks against it; an entry of neither does not", () => {
  const sum = add(Float64Array.of(1, 0, 0), Float64Array.of(-0.9, -0.2, 0.1), 5);
  expect([...sum].map((score) => score > 0)).toEqual([true, false, true]);
});

test("lists of different lengths and empty lists can be added", () => {
  expect(add(new Float64Array(0), Float64Array.of(0, 1), 1)[1]).toBeGreaterThan(0);
  expect(add(new Float64Array(0), new Float64Array(0), 1)).toHaveLength(0);
});

test("ranks start at one, and ties share a rank", () => {
  expect(ranksIn(Float64Array.of(5, 9, 5), [0, 1, 2])).toEqual([2, 1, 2]);
  expect(ranksIn(Float64Array.of(5, 9, 5), [])).toEqual([]);
});

test("lists agree from -1 to 1, whatever their scales", () => {
  const list = Float64Array.of(0, 1, 4, 2);
  expect(agreementOf(list, Float64Array.of(10, 30, 90, 50))).toBeCloseTo(1);
  expect(agreementOf(list, Float64Array.of(4, 3, 0, 2))).toBeCloseTo(-1);
  expect(agreementOf(list, new Float64Array(4))).toBe(0);
});
