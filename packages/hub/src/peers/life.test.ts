import { afterEach, expect, test, vi } from "vitest";
import { createLife } from "./life.ts";

const LIFE_MS = 20;
const HOUR_MS = 3_600_000;

afterEach(() => vi.useRealTimers());

test("a clock that is set back or forward does not make a report last longer", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const life = createLife(LIFE_MS);
  expect(life.isSure()).toBe(false);
  await life.report(async () => {});
  vi.setSystemTime(Date.now() - HOUR_MS);
  await vi.waitFor(() => expect(life.isSure()).toBe(false), { interval: 1 });
  const long = createLife(HOUR_MS);
  await long.report(async () => {});
  expect(long.isSure()).toBe(true);
  vi.setSystemTime(Date.now() + HOUR_MS);
  expect(long.isSure()).toBe(false);
});

test("after a gap in its own reports, a hub gives the others a life to report again", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const life = createLife(HOUR_MS);
  await life.report(async () => {});
  expect(life.canJudge()).toBe(true);
  // As a report that waited for a database that was away.
  await life.report(async () => void vi.setSystemTime(Date.now() + HOUR_MS));
  expect([life.isSure(), life.canJudge()]).toEqual([false, false]);
  for (const minutes of [25, 50, 75]) {
    vi.setSystemTime(Date.now() + 25 * 60_000);
    await life.report(async () => {});
    expect([minutes, life.canJudge()]).toEqual([minutes, minutes > 60]);
  }
});
