import { type Clock, newHandle, ToolError } from "@octant/core";
import { keepEvent, publishKept } from "../lifecycle/kept-events.ts";
import type { LifecycleEvent, LifecycleTopic } from "../lifecycle/lifecycle-events.ts";
import { findProject } from "../projects/project.ts";
import type { HubSession } from "../sessions/hub-session.ts";
import type { HubSessions } from "../sessions/hub-sessions.ts";
import type { HubStore } from "../store/hub-store.ts";
import type { DueRun } from "./due-times.ts";
import type { Schedule, ScheduleRun } from "./schedule.ts";

export interface ScheduleRunsOptions {
  readonly store: HubStore;
  readonly sessions: Pick<HubSessions, "spawn" | "message">;
  readonly lifecycle: LifecycleTopic;
  readonly clock: Clock;
}

/** Runs that may wait for the one before. */
const MAX_QUEUED = 100;
/** Older ones are forgotten. */
const MAX_HISTORY = 500;

/**
 * The runs of schedules. Each step is stored before it is taken, and each may be repeated: a run has the id of its time,
 * its session has an id that was chosen before, and a message to a pinned session has the run's id as its key.
 */
export function createScheduleRuns({ store, sessions, lifecycle, clock }: ScheduleRunsOptions) {
  const records = store.records<ScheduleRun>("schedule_run");
  const schedules = store.records<Schedule>("schedule");
  const sessionRecords = store.records<HubSession>("session");
  const nowText = () => new Date(clock.now()).toISOString();
  const prefixOf = (schedule_id: string) => `${schedule_id}.`;
  /** Newest first. */
  const list = (schedule_id: string): Promise<readonly ScheduleRun[]> =>
    records.list({ id_prefix: prefixOf(schedule_id) });
  const report = (type: LifecycleEvent["type"], run: ScheduleRun): ScheduleRun => {
    const { project_id, schedule_id, session_id, outcome, cost } = run;
    return keepEvent(run, { type, project_id, schedule_id, session_id, outcome, cost }, clock.now());
  };
  const publish = (run: ScheduleRun) => publishKept(lifecycle, "schedule_run", run);
  const end = async (run: ScheduleRun, update: Partial<ScheduleRun> & Pick<ScheduleRun, "state">) => {
    const type = update.state === "skipped" ? "schedule.skipped" : "schedule.ended";
    const ended = await records.change(run.id, (stored) =>
      report(type, { ...stored, ...update, ended_at: nowText() }),
    );
    if (ended) publish(ended);
  };

  /** Does nothing when the session is known already. */
  const launch = async (schedule: Schedule, run: ScheduleRun): Promise<void> => {
    const { session_id = "" } = run;
    const { message, model, labels, session: kind, name } = schedule;
    const pinned = kind === "pinned" ? await sessionRecords.get(session_id) : undefined;
    if (pinned && pinned.state !== "ended" && pinned.id === schedule.session_id)
      return void (await sessions.message(session_id, message, run.id));
    const project = await findProject(store, schedule.project_id);
    await sessions.spawn(project, {
      id: session_id,
      message_key: run.id,
      labels: { ...labels, schedule: name },
      message,
      model,
    });
    if (kind === "pinned") await schedules.change(schedule.id, (stored) => ({ ...stored, session_id }));
  };

  /** The session of a run, before it begins: the pinned one if it can continue, or the id of a new one. */
  const chooseSession = async ({ session, session_id }: Schedule) => {
    const pinned = session === "pinned" && session_id ? await sessionRecords.get(session_id) : undefined;
    if (pinned && pinned.state !== "ended") return { session_id: pinned.id, cost_before: pinned.cost };
    return { session_id: newHandle("ses", clock.now()), cost_before: 0 };
  };

  const finishIfEnded = async (run: ScheduleRun): Promise<void> => {
    const session = await sessionRecords.get(run.session_id ?? "");
    if (session?.state === "working") return;
    if (!session) return end(run, { state: "failed", reason: "its session was deleted" });
    const { outcome = "done", problem, cost } = session;
    const isDone = outcome === "done";
    await end(run, {
      state: isDone ? "done" : "failed",
      outcome,
      cost: Math.max(0, cost - (run.cost_before ?? 0)),
      ...(!isDone && { reason: problem ?? `the session ended with ${outcome}` }),
    });
  };

  const begin = async (schedule: Schedule, run: ScheduleRun): Promise<"begun" | "full"> => {
    const begun: ScheduleRun = {
      ...run,
      state: "running",
      started_at: nowText(),
      ...(await chooseSession(schedule)),
    };
    const stored = await records.change(run.id, (one) => (one.state === "queued" ? begun : one));
    // Another hub has begun it, or it was removed.
    if (stored !== begun && stored?.session_id !== begun.session_id) return "begun";
    try {
      await launch(schedule, begun);
      const started = await records.change(run.id, (stored) => report("schedule.started", stored));
      if (started) publish(started);
      // It may have ended before anybody listened.
      await finishIfEnded(begun);
      return "begun";
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      if (cause.code === "LIMIT_EXCEEDED" && schedule.overlap === "queue") {
        await records.change(run.id, () => run);
        return "full";
      }
      await end(begun, { state: "failed", reason: cause.message });
      return "begun";
    }
  };

  /** Starts the runs that may start now, and skips those that may not wait. */
  const advance = async (schedule: Schedule): Promise<void> => {
    for (;;) {
      const all = (await list(schedule.id)).toReversed();
      const queued = all.filter(({ state }) => state === "queued");
      const [first] = queued;
      if (!first) return prune(all);
      const busy = all.find(({ state }) => state === "running");
      if (!busy || schedule.overlap === "parallel") {
        if ((await begin(schedule, first)) === "full") return;
        continue;
      }
      // Runs that make up for missed ones follow each other.
      const refused =
        schedule.overlap === "skip"
          ? queued.filter(({ trigger }) => trigger !== "catch_up")
          : queued.slice(MAX_QUEUED);
      const reason =
        schedule.overlap === "skip"
          ? `the run of ${busy.due_at} is still at work`
          : `${MAX_QUEUED} runs wait already`;
      for (const run of refused) await end(run, { state: "skipped", reason });
      return;
    }
  };

  const prune = async (oldestFirst: readonly ScheduleRun[]): Promise<void> => {
    const ended = oldestFirst.filter(({ state }) => state !== "queued" && state !== "running");
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_HISTORY))) await records.remove(id);
  };

  return {
    list,
    find: (id: string) => records.get(id),
    remove: (id: string) => records.remove(id),
    advance,
    /** Stores a run unless it is stored already; returns its id. */
    async add({ id, project_id }: Schedule, { dueMs, trigger, skipped }: DueRun): Promise<string> {
      const due_at = new Date(dueMs).toISOString();
      const run: ScheduleRun = {
        id: `${prefixOf(id)}${due_at}${trigger === "manual" ? `.${newHandle("run", dueMs)}` : ""}`,
        project_id,
        schedule_id: id,
        due_at,
        trigger,
        state: skipped === undefined ? "queued" : "skipped",
        created_at: due_at,
        ...(skipped !== undefined && { reason: skipped, ended_at: nowText() }),
      };
      try {
        const stored = skipped === undefined ? run : report("schedule.skipped", run);
        await records.add(stored);
        publish(stored);
      } catch (cause) {
        if (!(cause instanceof ToolError && cause.code === "ALREADY_EXISTS")) throw cause;
      }
      return run.id;
    },
    /** A session has stopped: its runs have ended, and others may begin. */
    async settle(project_id: string, session_id: string): Promise<void> {
      for (const schedule of await schedules.list({ project_id })) {
        const all = await list(schedule.id);
        const own = all.filter((run) => run.state === "running" && run.session_id === session_id);
        for (const run of own) await finishIfEnded(run);
        const waits = all.some(({ state }) => state === "queued");
        if (own.length > 0 || waits) await advance(schedule);
      }
    },
    /** Repeats the step at which a hub may have been killed. */
    async recover(schedule: Schedule): Promise<void> {
      for (const run of await list(schedule.id)) {
        if (run.state !== "running") continue;
        try {
          await launch(schedule, run);
          await finishIfEnded(run);
        } catch (cause) {
          if (!(cause instanceof ToolError)) throw cause;
          await end(run, { state: "failed", reason: cause.message });
        }
      }
      await advance(schedule);
    },
  };
}
