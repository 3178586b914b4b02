import { action, defineTool, pagingInput } from "@octant/core";
import { z } from "zod";
import { findProject, ProjectId } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import { pageOf } from "../store/page-of.ts";
import { parseCron } from "./cron.ts";
import {
  findSchedule,
  newScheduleId,
  RunView,
  type Schedule,
  ScheduleId,
  ScheduleSettings,
  ScheduleView,
  toRunView,
  toScheduleView,
} from "./schedule.ts";
import type { Scheduler } from "./scheduler.ts";

export interface ScheduleToolOptions {
  readonly store: HubStore;
  readonly scheduler: Scheduler;
  now(): number;
}

const { time_zone, enabled, overlap, session, missed, jitter_s, ...required } = ScheduleSettings.shape;
const NewSchedule = z.strictObject({
  project_id: ProjectId,
  ...required,
  time_zone: time_zone.default("UTC"),
  enabled: enabled.default(true),
  overlap: overlap.default("skip"),
  session: session.default("fresh"),
  missed: missed.default("once"),
  jitter_s: jitter_s.default(0),
});
const One = z.strictObject({ schedule_id: ScheduleId });
const EXAMPLE_ID = "schedule_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";
const EXAMPLE_PROJECT = "project_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";
const DEFAULT_RUNS = 20;
const MAX_RUNS = 500;
const DAY_MS = 24 * 3_600_000;
const DEFAULT_DAYS = 7;
const MAX_DAYS = 366;
/** The planned times shown of one schedule: one that runs every minute has 10,080 a week. */
const MAX_PLANNED = 200;
const READ = { access: "read", timing: "sync", intent: "inspect" } as const;
const WRITE = { access: "write", timing: "sync", intent: "apply" } as const;

export const scheduleTool = ({ store, scheduler, now }: ScheduleToolOptions) => {
  const records = store.records<Schedule>("schedule");
  const projectOf = async ({ schedule_id }: { readonly schedule_id: string }) =>
    (await records.get(schedule_id))?.project_id;
  const nextOf = (settings: Pick<Schedule, "cron" | "time_zone" | "enabled">): string | undefined => {
    const nextMs = parseCron(settings.cron, settings.time_zone).next(now());
    return settings.enabled && nextMs !== undefined ? new Date(nextMs).toISOString() : undefined;
  };
  return defineTool({
    name: "schedule",
    summary: "Sessions that begin at set times, such as every night.",
    actions: {
      create: action({
        summary: "Start a session of a project at the times of a cron expression.",
        ...WRITE,
        openWorld: true,
        input: NewSchedule,
        output: ScheduleView,
        errors: ["NOT_FOUND", "ALREADY_EXISTS"],
        examples: [
          {
            title: "Every working night",
            input: {
              project_id: EXAMPLE_PROJECT,
              name: "nightly",
              cron: "30 2 * * 1-5",
              time_zone: "Europe/Berlin",
              message: "Update the dependencies and make the tests pass.",
            },
            fails: "NOT_FOUND",
          },
        ],
        projectOf: ({ project_id }) => project_id,
        async run({ project_id, ...settings }) {
          await findProject(store, project_id);
          const at = new Date(now()).toISOString();
          const schedule: Schedule = {
            ...settings,
            id: newScheduleId(),
            project_id,
            next_at: nextOf(settings),
            created_at: at,
            updated_at: at,
          };
          await records.add(schedule);
          scheduler.changed();
          return toScheduleView(schedule);
        },
      }),
      list: action({
        summary: "The schedules of a project, newest first.",
        ...READ,
        input: z.strictObject({ project_id: ProjectId }),
        output: z.object({ schedules: z.array(ScheduleView).readonly() }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "Of a project", input: { project_id: EXAMPLE_PROJECT }, fails: "NOT_FOUND" }],
        projectOf: ({ project_id }) => project_id,
        async run({ project_id }) {
          await findProject(store, project_id);
          return { schedules: (await records.list({ project_id })).map(toScheduleView) };
        },
      }),
      upcoming: action({
        summary: "When the schedules of a project run next, soonest first.",
        ...READ,
        input: z.strictObject({
          project_id: ProjectId,
          days: z.int().min(1).max(MAX_DAYS).default(DEFAULT_DAYS),
        }),
        output: z.object({
          runs: z.array(z.object({ schedule_id: ScheduleId, due_at: z.string() })).readonly(),
          incomplete: z.string().optional().describe("Which times are missing"),
        }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "Next week", input: { project_id: EXAMPLE_PROJECT }, fails: "NOT_FOUND" }],
        projectOf: ({ project_id }) => project_id,
        async run({ project_id, days }) {
          await findProject(store, project_id);
          const enabled = (await records.list({ project_id })).filter((one) => one.enabled);
          const planned = enabled.map((one) => planOf(one, now(), now() + days * DAY_MS));
          const runs = planned.flat().sort((a, b) => (a.due_at < b.due_at ? -1 : 1));
          const isCut = planned.some(({ length }) => length === MAX_PLANNED);
          return {
            runs,
            ...(isCut && { incomplete: `only the first ${MAX_PLANNED} times of each schedule are listed` }),
          };
        },
      }),
      get: action({
        summary: "One schedule.",
        ...READ,
        input: One,
        output: ScheduleView,
        errors: ["NOT_FOUND"],
        examples: [{ title: "By id", input: { schedule_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        projectOf,
        run: async ({ schedule_id }) => toScheduleView(await findSchedule(store, schedule_id)),
      }),
      update: action({
        summary: "Change a schedule; absent fields stay as they are.",
        ...WRITE,
        input: ScheduleSettings.partial().extend(One.shape),
        output: ScheduleView,
        errors: ["NOT_FOUND", "ALREADY_EXISTS"],
        examples: [
          { title: "Pause it", input: { schedule_id: EXAMPLE_ID, enabled: false }, fails: "NOT_FOUND" },
        ],
        projectOf,
        async run({ schedule_id, ...changes }) {
          const before = await findSchedule(store, schedule_id);
          const next_at = nextOf({ ...before, ...changes });
          const isOtherTime = ["cron", "time_zone", "enabled"].some((field) => field in changes);
          const changed = await records.change(schedule_id, (stored) => ({
            ...stored,
            ...changes,
            ...(isOtherTime && { next_at }),
            updated_at: new Date(now()).toISOString(),
          }));
          scheduler.changed();
          return toScheduleView(changed ?? (await findSchedule(store, schedule_id)));
        },
      }),
      delete: action({
        summary: "Delete a schedule and its history; its sessions remain.",
        ...WRITE,
        destructive: true,
        input: One,
        output: z.object({ deleted: z.boolean() }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "By id", input: { schedule_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        projectOf,
        async run({ schedule_id }) {
          await findSchedule(store, schedule_id);
          return { deleted: await scheduler.remove(schedule_id) };
        },
      }),
      trigger: action({
        summary: "Start a run now; its overlap rule holds, and its next time stays.",
        ...WRITE,
        timing: "async_short",
        openWorld: true,
        input: One,
        output: RunView,
        errors: ["NOT_FOUND"],
        examples: [{ title: "Now", input: { schedule_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        projectOf,
        run: async ({ schedule_id }) => toRunView(await scheduler.trigger(schedule_id)),
      }),
      history: action({
        summary: "The runs of a schedule, newest first, with outcome and cost.",
        ...READ,
        input: One.extend(pagingInput(DEFAULT_RUNS, MAX_RUNS)),
        output: z.object({ runs: z.array(RunView).readonly(), total: z.int() }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "By id", input: { schedule_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        projectOf,
        async run({ schedule_id, limit }, ctx) {
          await findSchedule(store, schedule_id);
          const all = await scheduler.history(schedule_id);
          return { runs: pageOf(all, limit, ctx).map(toRunView), total: all.length };
        },
      }),
    },
  });
};

/** The times of a schedule in a period, up to a number. */
function planOf({ id, cron, time_zone }: Schedule, fromMs: number, untilMs: number) {
  const plan = parseCron(cron, time_zone);
  const times: { schedule_id: string; due_at: string }[] = [];
  let at = plan.next(fromMs);
  while (at !== undefined && at < untilMs && times.length < MAX_PLANNED) {
    times.push({ schedule_id: id, due_at: new Date(at).toISOString() });
    at = plan.next(at);
  }
  return times;
}
