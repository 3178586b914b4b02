import { expect, test } from "vitest";
import { createLatentSpace, learnLatentSpace } from "./latent-space.ts";
import { dot } from "./sparse-rows.ts";

const DOCUMENTS = [
  "car engine wheel drive",
  "automobile engine wheel drive",
  "car wheel road",
  "automobile road drive",
  "bread flour oven bake",
  "loaf flour oven bake",
  "bread oven crust",
  "loaf crust bake",
].map((text) => text.split(" "));

test("words that never occur together lie near each other when they keep the same company", () => {
  const space = createLatentSpace(learnLatentSpace(DOCUMENTS, 2));
  const car = space.place(["car"]);
  expect(dot(car, space.place(["automobile"]))).toBeGreaterThan(0.9);
  expect(dot(car, space.place(["loaf"]))).toBeLessThan(0.3);
});

test("the same documents give the same space", () => {
  const place = () => createLatentSpace(learnLatentSpace(DOCUMENTS, 3)).place(["engine", "road"]);
  expect(place()).toEqual(place());
});

test("unknown words lie nowhere, and an empty workspace has no directions", () => {
  const space = createLatentSpace(learnLatentSpace(DOCUMENTS, 2));
  expect([...space.place(["zebra"])]).toEqual([0, 0]);
  const empty = createLatentSpace(learnLatentSpace([], 2));
  expect(empty).toMatchObject({ dimensions: 0 });
  expect(empty.place(["car"])).toHaveLength(0);
});
