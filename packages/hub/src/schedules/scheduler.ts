import { type Clock, ToolError } from "@octant/core";
import type { LifecycleTopic } from "../lifecycle/lifecycle-events.ts";
import type { HubStore } from "../store/hub-store.ts";
import { jitterOf, parseCron } from "./cron.ts";
import { toDueTimes } from "./due-times.ts";
import { findSchedule, type Schedule, type ScheduleRun } from "./schedule.ts";
import { createScheduleRuns, type ScheduleRunsOptions } from "./schedule-runs.ts";

export interface SchedulerOptions extends Pick<ScheduleRunsOptions, "sessions"> {
  readonly store: HubStore;
  readonly lifecycle: LifecycleTopic;
  readonly clock: Clock;
  /** Names this hub: of several that share a store, one plans a schedule at a time. */
  readonly holder: string;
  /** Other projects are another hub's. */
  owns?(project_id: string): boolean;
  log(line: string): void;
}

export type Scheduler = ReturnType<typeof createScheduler>;

/** How long the clock is not looked at, at most: it may be set, and machines sleep. */
const MAX_SLEEP_MS = 60_000;
const RETRY_MS = 5_000;
const LEASE_MS = 30_000;

/** Starts the runs of schedules at their times, each once. */
export function createScheduler(options: SchedulerOptions) {
  const { store, clock, holder, lifecycle, owns = () => true, log } = options;
  const schedules = store.records<Schedule>("schedule");
  const runs = createScheduleRuns(options);
  const closing = new AbortController();
  let sleeping = new AbortController();
  let last: Promise<unknown> = Promise.resolve();

  /** One change at a time. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };

  /** Stores the runs that are due, then the next time; a killed hub repeats it without effect. */
  const plan = async (schedule: Schedule): Promise<void> => {
    if (!(await store.leases.take(`schedule:${schedule.id}`, holder, LEASE_MS))) return;
    try {
      const { id, cron, time_zone, next_at } = schedule;
      const known = new Set((await runs.list(id)).map(({ due_at }) => Date.parse(due_at)));
      const { runs: due, nextMs } = toDueTimes(schedule, parseCron(cron, time_zone), clock.now(), (ms) =>
        known.has(ms),
      );
      for (const one of due) await runs.add(schedule, one);
      const next = nextMs === undefined ? undefined : new Date(nextMs).toISOString();
      if (next !== next_at)
        // An update in between has set another time.
        await schedules.change(id, (stored) =>
          stored.next_at === next_at ? { ...stored, next_at: next } : stored,
        );
      await runs.advance(schedule);
    } finally {
      await store.leases.release(`schedule:${schedule.id}`, holder);
    }
  };

  const startOf = ({ id, next_at, jitter_s }: Schedule): number => {
    if (next_at === undefined) return Number.POSITIVE_INFINITY;
    const dueMs = Date.parse(next_at);
    return dueMs + jitterOf(id, dueMs, jitter_s * 1_000);
  };

  /** Plans what is due; returns the time until the next run. */
  const tick = () =>
    inTurn(async (): Promise<number> => {
      for (const schedule of await schedules.list())
        if (schedule.enabled && owns(schedule.project_id) && startOf(schedule) <= clock.now())
          await plan(schedule).catch((cause: unknown) => log(`hub: schedule ${schedule.name}: ${cause}`));
      const starts = (await schedules.list())
        .filter(({ enabled, project_id }) => enabled && owns(project_id))
        .map(startOf);
      // One that is still due could not be planned.
      const waits = starts.map((at) => (at > clock.now() ? at - clock.now() : RETRY_MS));
      return Math.min(MAX_SLEEP_MS, ...waits);
    });

  const loop = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const ms = await tick().catch((cause: unknown) => {
        log(`hub: the schedules cannot be read: ${cause}`);
        return MAX_SLEEP_MS;
      });
      sleeping = new AbortController();
      await clock.sleep(ms, AbortSignal.any([closing.signal, sleeping.signal]));
    }
  };

  const remove = async (id: string): Promise<boolean> => {
    for (const run of await runs.list(id)) await runs.remove(run.id);
    return schedules.remove(id);
  };

  const stopListening = lifecycle.listen(({ value: { type, project_id, session_id } }) => {
    if (session_id === undefined || !ENDINGS.has(type)) return;
    inTurn(() => runs.settle(project_id, session_id)).catch((cause: unknown) =>
      log(`hub: the end of session ${session_id} cannot be noted in its schedule: ${cause}`),
    );
  });
  let looping: Promise<void> | undefined;

  return {
    /** Begins to watch the clock. */
    start(): void {
      looping = loop();
    },
    /** Repeats what a killed hub may not have finished in a project. */
    recover: (project_id: string): Promise<void> =>
      inTurn(async () => {
        for (const schedule of await schedules.list({ project_id })) await runs.recover(schedule);
        sleeping.abort();
      }),
    /** A schedule was added or changed. */
    changed: () => sleeping.abort(),
    /** Starts a run now, whatever its time is; the overlap rule holds. */
    trigger: (id: string): Promise<ScheduleRun> =>
      inTurn(async () => {
        const schedule = await findSchedule(store, id);
        const run = await runs.add(schedule, { dueMs: clock.now(), trigger: "manual" });
        await runs.advance(schedule);
        const stored = await runs.find(run);
        if (stored) return stored;
        throw new ToolError("NOT_FOUND", "the schedule was deleted meanwhile", { id });
      }),
    history: runs.list,
    /** Forgets a schedule with its history; its sessions remain. */
    remove: (id: string): Promise<boolean> => inTurn(() => remove(id)),
    /** Forgets all schedules of a project. */
    removeOf: (project_id: string): Promise<void> =>
      inTurn(async () => {
        for (const { id } of await schedules.list({ project_id })) await remove(id);
      }),
    async close(): Promise<void> {
      closing.abort();
      stopListening();
      await looping;
      await last;
    },
  };
}

const ENDINGS: ReadonlySet<string> = new Set([
  "session.idle",
  "session.failed",
  "session.ended",
  "session.deleted",
]);
