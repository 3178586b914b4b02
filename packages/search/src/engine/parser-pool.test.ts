import { afterEach, expect, test } from "vitest";
import { ParserPool } from "./parser-pool.ts";

const ENDLESS = "(".repeat(200_000);
let pool: ParserPool;
const open = (deadlineMs: number) => {
  pool = new ParserPool(1, deadlineMs);
  return pool;
};
afterEach(() => pool.close());

test("a call that exceeds its deadline fails alone, and those behind it are answered", async () => {
  const parsers = open(2_000);
  const [slow, behind] = await Promise.allSettled([
    parsers.call("symbols", "a.py", ENDLESS),
    parsers.call("symbols", "b.py", "def f(): pass"),
  ]);
  expect(slow).toMatchObject({ status: "rejected", reason: { code: "TIMEOUT" } });
  expect(behind).toMatchObject({ status: "fulfilled", value: [{ name: "f" }] });
});

test("closing the pool fails the waiting calls", async () => {
  const parsers = open(60_000);
  const waiting = Promise.allSettled([
    parsers.call("symbols", "a.py", ENDLESS),
    parsers.call("symbols", "b.py", "x = 1"),
  ]);
  await parsers.close();
  expect((await waiting).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(parsers.call("symbols", "c.py", "y = 2")).rejects.toThrow("closed");
});
