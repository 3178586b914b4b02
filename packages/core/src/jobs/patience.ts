import type { Clock } from "../clock.ts";
import type { Envelope } from "../envelope.ts";
import type { Timing } from "../tool.ts";
import type { LiveJob } from "./live-jobs.ts";

/** With patience this short only failures are awaited: the caller gets the job unless it failed at once. */
const FAILURE_MS = 50;

/** How long an edge waits for the outcome before it answers with the job. */
export const PATIENCE_MS: Readonly<Record<Exclude<Timing, "sync">, number>> = {
  async_short: 30_000,
  async_medium: 120_000,
  async_long: FAILURE_MS,
  fire_and_forget: 0,
};

/** Whether the caller receives the job even if it succeeds quickly. */
export const asksForJob = (patienceMs: number): boolean => patienceMs <= FAILURE_MS;

/** The outcome if it comes in time, and is one to wait for. */
export async function patiently(
  { ended, detached }: LiveJob,
  ms: number,
  clock: Clock,
): Promise<Envelope | undefined> {
  if (ms <= 0) return undefined;
  if (asksForJob(ms)) return within(ms, clock, [ended.promise.then(onlyFailure)]);
  return within(ms, clock, [ended.promise, detached.promise.then(() => undefined)]);
}

const onlyFailure = (result: Envelope): Envelope | undefined => (result.ok ? undefined : result);

/** The first result before the timeout or the caller's abort. */
export async function within<T>(
  ms: number,
  clock: Clock,
  awaited: readonly Promise<T>[],
  signal?: AbortSignal,
): Promise<T | undefined> {
  const enough = new AbortController();
  const ending = signal ? AbortSignal.any([signal, enough.signal]) : enough.signal;
  const tired = clock.sleep(ms, ending).then(() => undefined);
  try {
    return await Promise.race([...awaited, tired]);
  } finally {
    enough.abort(ENOUGH);
  }
}

/** A prebuilt reason: without one an error is created, which takes longer than the rest. */
const ENOUGH = "enough";
