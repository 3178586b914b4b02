import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { afterEach, expect, test, vi } from "vitest";
import { ParserPool } from "./parser-pool.ts";

const ENDLESS = "(".repeat(200_000);
let pool: ParserPool;
const open = (deadlineMs: number, size = 1) => {
  pool = new ParserPool(size, deadlineMs);
  return pool;
};
afterEach(() => pool.close());

test("a call that exceeds its deadline fails alone, and those behind it are answered", async () => {
  const parsers = open(1_000);
  const [slow, behind] = await Promise.allSettled([
    parsers.call("symbols", "a.py", ENDLESS),
    parsers.call("symbols", "b.py", "def f(): pass"),
  ]);
  expect(slow).toMatchObject({ status: "rejected", reason: { code: "TIMEOUT" } });
  expect(behind).toMatchObject({ status: "fulfilled", value: [{ name: "f" }] });
});

test("files of the index that take long do not delay a question", async () => {
  const parsers = open(60_000, 2);
  const state = { path: "a.py", hash: "", size: 0, mtimeMs: 0 };
  const indexed = Promise.allSettled(
    ["a.py", "b.py", "c.py"].map((path) => parsers.call("parse", path, ENDLESS, state)),
  );
  expect(await parsers.call("symbols", "d.py", "def f(): pass")).toMatchObject([{ name: "f" }]);
  await parsers.close();
  expect((await indexed).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
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

test.each([
  { chars: 1_000, keptMs: 20_000 },
  { chars: 1_000_000, keptMs: 250 },
])("a thread that has parsed $chars characters is kept for $keptMs ms", async ({ chars, keptMs }) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const started: Promise<Worker[]> = once(process, "worker");
    await open(60_000).call("symbols", "a.py", "#".repeat(chars));
    const [worker] = await started;
    const ended = once(worker!, "exit");
    await setImmediate();
    vi.advanceTimersByTime(keptMs - 1);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);
    await ended;
  } finally {
    vi.useRealTimers();
  }
});
