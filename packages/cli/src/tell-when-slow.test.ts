import { expect, test } from "vitest";
import { tellWhenSlow } from "./tell-when-slow.ts";

test("slow work is told once while it goes on, and its result or failure comes through", async () => {
  const work = Promise.withResolvers<string>();
  let told = 0;
  const result = tellWhenSlow(
    work.promise,
    () => {
      told += 1;
      work.resolve("done");
    },
    1,
  );
  expect(await result).toBe("done");
  expect(told).toBe(1);
  const fails = tellWhenSlow(Promise.reject(new Error("no")), expect.unreachable);
  await expect(fails).rejects.toThrow("no");
});

test("fast work is not told", async () => {
  expect(await tellWhenSlow(Promise.resolve(1), expect.unreachable)).toBe(1);
});
