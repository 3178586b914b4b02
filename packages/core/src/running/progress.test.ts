import { expect, test } from "vitest";
import { createProgressReporter } from "./progress.ts";

/** Time passes when the test says so. */
function collect() {
  const sent: number[] = [];
  let now = 0;
  let sleepers: { readonly until: number; wake(): void }[] = [];
  const clock = {
    now: () => now,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>((wake) => {
        sleepers.push({ until: now + ms, wake });
        signal.addEventListener("abort", () => wake());
      }),
  };
  const pass = async (ms: number) => {
    now += ms;
    const due = sleepers.filter(({ until }) => until <= now);
    sleepers = sleepers.filter(({ until }) => until > now);
    for (const { wake } of due) wake();
    await new Promise(setImmediate);
  };
  return { sent, pass, ...createProgressReporter(({ progress }) => sent.push(progress), clock) };
}

test("the first update goes out at once, later ones ten times a second with the latest value", async () => {
  const { sent, report, pass } = collect();
  for (let progress = 1; progress <= 50; progress++) {
    report({ progress });
    await pass(10);
  }
  expect(sent.length).toBeGreaterThanOrEqual(5);
  expect(sent.length).toBeLessThanOrEqual(6);
  await pass(100);
  expect(sent.at(-1)).toBe(50);
});

test("updates only ever go forward", async () => {
  const { sent, report, pass } = collect();
  for (const progress of [2, 1, 2, Number.NaN, 3]) {
    report({ progress });
    await pass(100);
  }
  expect(sent).toEqual([2, 3]);
});

test("the end sends the pending update, and nothing follows it", async () => {
  const { sent, report, finish, pass } = collect();
  report({ progress: 1 });
  report({ progress: 2 });
  finish();
  report({ progress: 3 });
  await pass(1_000);
  expect(sent).toEqual([1, 2]);
});
