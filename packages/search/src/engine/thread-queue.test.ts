import { afterEach, expect, test } from "vitest";
import type { ParserCalls } from "./parser-entry.ts";
import { startThread } from "./thread.ts";
import { createThreadQueue } from "./thread-queue.ts";

const ENDLESS = "(".repeat(200_000);
let queue: ReturnType<typeof createThreadQueue<ParserCalls>>;
const open = (deadlineMs: number) => {
  queue = createThreadQueue<ParserCalls>({
    size: 1,
    start: () => startThread<ParserCalls>("parser", import.meta.url, null),
    deadlineMs,
    heapBytes: 0,
  });
  return queue;
};
afterEach(() => queue.close());

test("a call that exceeds its deadline fails alone, and those behind it are answered", async () => {
  const { call } = open(2_000);
  const [slow, behind] = await Promise.allSettled([
    call("symbols", "a.py", ENDLESS),
    call("symbols", "b.py", "def f(): pass"),
  ]);
  expect(slow).toMatchObject({ status: "rejected", reason: { code: "TIMEOUT" } });
  expect(behind).toMatchObject({ status: "fulfilled", value: [{ name: "f" }] });
});

test("closing the queue fails the waiting calls", async () => {
  const { call, close } = open(60_000);
  const waiting = Promise.allSettled([call("symbols", "a.py", ENDLESS), call("symbols", "b.py", "x = 1")]);
  await close();
  expect((await waiting).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(call("symbols", "c.py", "y = 2")).rejects.toThrow("closed");
});
