import type { CronPlan } from "./cron.ts";
import { jitterOf } from "./cron.ts";
import type { Schedule, ScheduleRun } from "./schedule.ts";

/** A time that is over by more than this was missed: the hub did not run, or its machine slept. */
const MISSED_AFTER_MS = 60_000;
/** The most runs that are made up for. */
const MAX_CATCH_UP = 100;
/** The most times that are counted; a hub may have been off for a year of minutes. */
const MAX_COUNTED = 10_000;

export interface DueRun {
  readonly dueMs: number;
  readonly trigger: ScheduleRun["trigger"];
  /** Set: it is only recorded as skipped. */
  readonly skipped?: string;
}

export interface DueTimes {
  readonly runs: readonly DueRun[];
  /** The first time that is not due yet. */
  readonly nextMs: number | undefined;
}

/** The runs of a schedule that begin now. `isKnown`: the run of this time was planned before. */
export function toDueTimes(
  { id, next_at, jitter_s, missed: policy }: Schedule,
  plan: CronPlan,
  now: number,
  isKnown: (dueMs: number) => boolean,
): DueTimes {
  const jitterMs = jitter_s * 1_000;
  const due: number[] = [];
  let nextMs = next_at === undefined ? undefined : Date.parse(next_at);
  while (nextMs !== undefined && nextMs + jitterOf(id, nextMs, jitterMs) <= now) {
    due.push(nextMs);
    nextMs = plan.next(due.length < MAX_COUNTED ? nextMs : now);
  }
  const fresh = due.filter((dueMs) => !isKnown(dueMs));
  const isMissed = (dueMs: number) => dueMs + jitterMs < now - MISSED_AFTER_MS;
  const missed = fresh.filter(isMissed);
  const onTime = fresh.filter((dueMs) => !isMissed(dueMs));
  // A run that is on time makes up for the missed ones.
  const kept =
    policy === "all"
      ? missed.slice(-MAX_CATCH_UP)
      : policy === "once" && onTime.length === 0
        ? missed.slice(-1)
        : [];
  const dropped = missed.filter((dueMs) => !kept.includes(dueMs));
  const last = dropped.at(-1);
  return {
    runs: [
      ...(last === undefined
        ? []
        : [{ dueMs: last, trigger: "cron" as const, skipped: describeMissed(dropped.length) }]),
      ...kept.map((dueMs) => ({ dueMs, trigger: "catch_up" as const })),
      ...onTime.map((dueMs) => ({ dueMs, trigger: "cron" as const })),
    ],
    nextMs,
  };
}

const describeMissed = (count: number): string =>
  count === 1
    ? "the hub did not run at this time"
    : `the hub did not run at this time and at ${count - 1} times before`;
