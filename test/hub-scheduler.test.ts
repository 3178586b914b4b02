import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newHandle, ToolError } from "@octant/core";
import { expect, onTestFinished, test } from "vitest";
import { createLifecycle } from "../packages/hub/src/lifecycle/lifecycle-events.ts";
import { type Project, ProjectLimits } from "../packages/hub/src/projects/project.ts";
import { parseCron } from "../packages/hub/src/schedules/cron.ts";
import type { Schedule } from "../packages/hub/src/schedules/schedule.ts";
import { createScheduler, type SchedulerOptions } from "../packages/hub/src/schedules/scheduler.ts";
import type { HubSession } from "../packages/hub/src/sessions/hub-session.ts";
import type { HubRecord, HubStore, RecordKind, Records } from "../packages/hub/src/store/hub-store.ts";
import { openSqliteHubStore } from "../packages/hub/src/store/sqlite-hub-store.ts";
import { createManualClock } from "../packages/terminal/src/testing/clock.ts";

const MINUTE_MS = 60_000;
const START = Date.parse("2026-11-18T00:00:30Z");
const at = (minute: number) => `2026-11-18T00:${String(minute).padStart(2, "0")}:00.000Z`;

/** Stands for the process that a kill ends in the middle. */
class Killed extends Error {}

function openWorld() {
  const folder = mkdtempSync(join(tmpdir(), "octant-hub-"));
  const file = join(folder, "hub.db");
  const clock = createManualClock(START);
  const store = openSqliteHubStore({ file, now: clock.now });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const sessions = store.records<HubSession>("session");
  const lifecycle = createLifecycle(clock.now);
  let open: ReturnType<typeof createScheduler> | undefined;

  /** The strictest reading of HubSessions: an id is used once, a key sends once, an ended session refuses. */
  const doubles = (records: Records<HubSession>): SchedulerOptions["sessions"] => ({
    async spawn(project, { id = newHandle("ses", clock.now()), message, message_key, labels }) {
      const known = await records.get(id);
      if (known) return known;
      const now = new Date(clock.now()).toISOString();
      const session: HubSession = {
        ...{ id, project_id: project.id, workspace_id: "w", state: "working", caller_tools: [] },
        ...{ root_id: id, depth: 0, cost: 0, created_at: now, updated_at: now },
        pending: [{ text: message, after: 0 }],
        ...(labels && { labels }),
        ...(message_key !== undefined && { message_keys: [message_key] }),
      };
      await records.add(session);
      return session;
    },
    async message(id, text, key = "") {
      const session = await records.get(id);
      if (!session) throw new ToolError("NOT_FOUND", "gone", { id });
      if (session.message_keys?.includes(key)) return session;
      if (session.state === "ended") throw new ToolError("LOCKED", "ended", {});
      await records.change(id, (one) => ({
        ...one,
        state: "working",
        pending: [...one.pending, { text, after: 0 }],
        message_keys: [...(one.message_keys ?? []), key],
      }));
      return session;
    },
  });
  const world = {
    clock,
    store,
    /** Every message that a session has, oldest session first. */
    async delivered(): Promise<readonly string[]> {
      const all = (await sessions.list()).toReversed();
      return all.flatMap(({ id, pending }) => pending.map(({ text }) => `${id} ${text}`));
    },
    async addSchedule(settings: Partial<Schedule> = {}): Promise<Schedule> {
      const now = new Date(clock.now()).toISOString();
      const project: Project = {
        ...{ id: "p", name: "p", source: { empty: true }, limits: ProjectLimits.parse({}) },
        ...{ created_at: now, updated_at: now },
      };
      await store
        .records<Project>("project")
        .add(project)
        .catch(() => {});
      const cron = settings.cron ?? "* * * * *";
      const schedule: Schedule = {
        ...{ id: "schedule_1", project_id: "p", name: "nightly", cron, time_zone: "UTC", message: "Work." },
        ...{ enabled: true, overlap: "skip", session: "fresh", missed: "none", jitter_s: 0 },
        ...{ created_at: now, updated_at: now },
        next_at: new Date(parseCron(cron, "UTC").next(clock.now()) ?? 0).toISOString(),
        ...settings,
      };
      await store.records<Schedule>("schedule").add(schedule);
      return schedule;
    },
    async startHub(given: HubStore = store) {
      const scheduler = createScheduler({
        ...{ store: given, clock, lifecycle, holder: "hub" },
        sessions: doubles(given.records<HubSession>("session")),
        log: () => {},
      });
      open = scheduler;
      onTestFinished(() => scheduler.close());
      await scheduler.recover("p");
      scheduler.start();
      return scheduler;
    },
    /** The session of a run ends, as the hub reports it. */
    async finish(outcome: "done" | "max_cost" = "done", cost = 0.5): Promise<void> {
      const working = (await sessions.list()).filter(({ state }) => state === "working").at(-1);
      if (!working) throw new Error("no session works");
      await sessions.change(working.id, (one) => ({ ...one, state: "idle", outcome, cost: one.cost + cost }));
      lifecycle.publish({ type: "session.idle", project_id: "p", session_id: working.id });
      await clock.pass(0);
    },
    /** Oldest first. */
    async runs() {
      const all = (await open?.history("schedule_1")) ?? [];
      return all
        .toReversed()
        .map(({ due_at, state, trigger }) => `${due_at.slice(14, 16)} ${trigger} ${state}`);
    },
    async history() {
      return (await open?.history("schedule_1"))?.toReversed() ?? [];
    },
  };
  return world;
}

test("a run starts at its time, and its history has outcome and cost", async () => {
  const { addSchedule, startHub, clock, finish, history, delivered } = openWorld();
  await addSchedule();
  await startHub();
  await clock.pass(29_000);
  expect(await delivered()).toEqual([]);
  await clock.pass(1_000);
  expect(await delivered()).toEqual([expect.stringMatching(/^ses_\w+ Work\.$/)]);
  await finish("done", 0.25);
  await clock.pass(MINUTE_MS);
  await finish("max_cost", 2);
  expect(await history()).toMatchObject([
    { due_at: at(1), state: "done", outcome: "done", cost: 0.25, started_at: at(1) },
    {
      due_at: at(2),
      state: "failed",
      outcome: "max_cost",
      cost: 2,
      reason: "the session ended with max_cost",
    },
  ]);
});

test("a run at the time of one that is still at work is skipped, waits, or starts at once", async () => {
  const expected = {
    skip: ["01 cron running", "02 cron skipped", "03 cron skipped"],
    queue: ["01 cron running", "02 cron queued", "03 cron queued"],
    parallel: ["01 cron running", "02 cron running", "03 cron running"],
  } as const;
  for (const overlap of ["skip", "queue", "parallel"] as const) {
    const { addSchedule, startHub, clock, runs, finish } = openWorld();
    await addSchedule({ overlap });
    await startHub();
    await clock.pass(3 * MINUTE_MS);
    expect(await runs()).toEqual(expected[overlap]);
    await finish();
    if (overlap === "queue")
      expect(await runs()).toEqual(["01 cron done", "02 cron running", "03 cron queued"]);
  }
});

test("a pinned schedule sends its messages to one session, until that ends", async () => {
  const { addSchedule, startHub, clock, finish, delivered, store } = openWorld();
  await addSchedule({ session: "pinned", overlap: "queue" });
  await startHub();
  for (let n = 0; n < 3; n += 1) {
    await clock.pass(MINUTE_MS);
    await finish();
  }
  const [first = ""] = (await delivered())[0]?.split(" ") ?? [];
  expect(await delivered()).toEqual([`${first} Work.`, `${first} Work.`, `${first} Work.`]);
  await store.records<HubSession>("session").change(first, (one) => ({ ...one, state: "ended" }));
  await clock.pass(MINUTE_MS);
  expect(await delivered()).toHaveLength(4);
  expect((await delivered())[3]).not.toContain(first);
});

test("runs of the time when no hub ran are dropped, made up for once, or all", async () => {
  const all = ["05", "10", "15", "20", "25"];
  const expected = {
    none: ["25 cron skipped"],
    once: ["20 cron skipped", "25 catch_up running"],
    all: all.map((n) => `${n} catch_up ${n === "05" ? "running" : "queued"}`),
  };
  for (const missed of ["none", "once", "all"] as const) {
    const { addSchedule, startHub, clock, runs, finish } = openWorld();
    await addSchedule({ missed, cron: "*/5 * * * *" });
    await clock.pass(28 * MINUTE_MS);
    await startHub();
    await clock.pass(0);
    expect(await runs()).toEqual(expected[missed]);
    if (missed !== "all") continue;
    for (const _ of all) await finish();
    expect(await runs()).toEqual(all.map((n) => `${n} catch_up done`));
  }
});

test("a run that is on time makes up for the missed ones", async () => {
  const { addSchedule, startHub, clock, runs } = openWorld();
  await addSchedule({ missed: "once", cron: "*/5 * * * *" });
  await clock.pass(15 * MINUTE_MS);
  await startHub();
  await clock.pass(0);
  expect(await runs()).toEqual(["10 cron skipped", "15 cron running"]);
});

test("jitter moves the start of a run, not its time", async () => {
  const { addSchedule, startHub, clock, history } = openWorld();
  await addSchedule({ jitter_s: 50, cron: "*/5 * * * *" });
  await startHub();
  await clock.pass(6 * MINUTE_MS);
  const [run] = await history();
  expect(run?.due_at).toBe(at(5));
  const late = Date.parse(run?.started_at ?? "") - Date.parse(at(5));
  expect(late).toBeGreaterThan(0);
  expect(late).toBeLessThanOrEqual(50_000);
});

test("a trigger runs now, under the overlap rule, and leaves the next time", async () => {
  const { addSchedule, startHub, store } = openWorld();
  const { next_at } = await addSchedule({ enabled: false });
  const scheduler = await startHub();
  expect(await scheduler.trigger("schedule_1")).toMatchObject({ state: "running", trigger: "manual" });
  expect(await scheduler.trigger("schedule_1")).toMatchObject({ state: "skipped" });
  expect(await store.records<Schedule>("schedule").get("schedule_1")).toMatchObject({ next_at });
});

test("two hubs on one store start each run once", async () => {
  const { addSchedule, startHub, clock, delivered } = openWorld();
  await addSchedule({ overlap: "parallel" });
  await startHub();
  await startHub();
  await clock.pass(3 * MINUTE_MS);
  expect(await delivered()).toHaveLength(3);
});

/** Throws before or after the n-th write, as a kill would end the process there, and refuses every later one. */
function killedAt(store: HubStore, n: number, when: "before" | "after"): HubStore {
  let writes = 0;
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    writes += 1;
    if (writes > n || (writes === n && when === "before")) throw new Killed();
    const result = await work();
    if (writes === n) throw new Killed();
    return result;
  };
  return {
    ...store,
    leases: {
      take: (name, holder, ms) => guarded(() => store.leases.take(name, holder, ms)),
      release: async () => {},
    },
    records<T extends HubRecord>(kind: RecordKind): Records<T> {
      const own = store.records<T>(kind);
      return {
        ...own,
        add: (record) => guarded(() => own.add(record)),
        change: (id, change) => guarded(() => own.change(id, change)),
        remove: (id) => guarded(() => own.remove(id)),
      };
    },
  };
}

test("a hub that is killed at any write starts each run exactly once after its restart", async () => {
  const wrong: string[] = [];
  for (const session of ["fresh", "pinned"] as const)
    for (const when of ["before", "after"] as const)
      for (let n = 1; n <= 9; n += 1) {
        const { addSchedule, startHub, clock, store, delivered, finish, runs } = openWorld();
        await addSchedule({ session, missed: "all", overlap: "queue" });
        const first = await startHub(killedAt(store, n, when)).catch(() => undefined);
        await clock.pass(MINUTE_MS + 10_000);
        await first?.close();
        await startHub();
        await clock.pass(0);
        if ((await runs()).some((run) => run.endsWith("running"))) await finish();
        const seen = [(await delivered()).length, ...(await runs())].join(", ");
        if (!/^1, 01 (?:cron|catch_up) done$/.test(seen))
          wrong.push(`${session}, ${when} write ${n}: ${seen}`);
      }
  expect(wrong).toEqual([]);
});
