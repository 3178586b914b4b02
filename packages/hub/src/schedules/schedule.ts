import { handle, newHandle, ToolError } from "@octant/core";
import { z } from "zod";
import type { KeepsEvents } from "../lifecycle/kept-events.ts";
import { ProjectId } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";

export const ScheduleId = handle("schedule");
export const newScheduleId = () => newHandle("schedule", Date.now());

const OVERLAPS = ["skip", "queue", "parallel"] as const;
const MISSED = ["none", "once", "all"] as const;
const RUN_STATES = ["queued", "running", "done", "failed", "skipped"] as const;

const MAX_JITTER_S = 86_400;

/** The settings of a schedule that a person chooses. */
export const ScheduleSettings = z.strictObject({
  name: z.string().min(1).max(100),
  cron: z.string().min(1).max(200).describe("Five fields, or six with seconds first, such as 30 2 * * 1-5"),
  time_zone: z.string().min(1).max(64).describe("Such as Europe/Berlin"),
  message: z.string().min(1).max(100_000).describe("The task of each run"),
  enabled: z.boolean(),
  overlap: z
    .enum(OVERLAPS)
    .describe("When the run before is still at work: skip this one, start it afterwards, or at once"),
  session: z.enum(["fresh", "pinned"]).describe("fresh: a new session for each run; pinned: always the same"),
  missed: z.enum(MISSED).describe("Which runs are made up for when the hub did not run at their time"),
  jitter_s: z.int().min(0).max(MAX_JITTER_S).describe("Each run begins up to this many seconds later"),
  model: z.string().min(1).max(200).optional(),
  labels: z.record(z.string().max(64), z.string().max(256)).optional().describe("Labels of its sessions"),
});
export type ScheduleSettings = z.output<typeof ScheduleSettings>;

/** A schedule as it is stored. */
export interface Schedule extends ScheduleSettings {
  readonly id: string;
  readonly project_id: string;
  /** The pinned session. */
  readonly session_id?: string | undefined;
  /** The next time that is not planned yet; absent when it is disabled. */
  readonly next_at?: string | undefined;
  readonly created_at: string;
  readonly updated_at: string;
}

export const ScheduleView = ScheduleSettings.extend({
  schedule_id: ScheduleId,
  project_id: ProjectId,
  session_id: z.string().optional(),
  next_at: z.string().optional(),
  created_at: z.string(),
  updated_at: z.string(),
});

export const toScheduleView = ({ id, ...rest }: Schedule): z.output<typeof ScheduleView> => ({
  ...rest,
  schedule_id: id,
});

/** One time of a schedule. Its id contains that time, so that it is stored once, whatever is killed when. */
export interface ScheduleRun extends KeepsEvents {
  readonly id: string;
  readonly project_id: string;
  readonly schedule_id: string;
  /** When it was due. */
  readonly due_at: string;
  readonly trigger: "cron" | "catch_up" | "manual";
  readonly state: (typeof RUN_STATES)[number];
  /** Why it was skipped or failed. */
  readonly reason?: string | undefined;
  /** Chosen before the session is spawned, so that a second attempt finds it. */
  readonly session_id?: string | undefined;
  readonly outcome?: string | undefined;
  /** US dollars. */
  readonly cost?: number | undefined;
  /** The cost of the session before the run. */
  readonly cost_before?: number | undefined;
  readonly started_at?: string | undefined;
  readonly ended_at?: string | undefined;
  readonly created_at: string;
}

export const RunView = z.object({
  run_id: z.string(),
  schedule_id: z.string(),
  due_at: z.string(),
  trigger: z.enum(["cron", "catch_up", "manual"]),
  state: z.enum(RUN_STATES),
  reason: z.string().optional(),
  session_id: z.string().optional(),
  outcome: z.string().optional(),
  cost: z.number().optional().describe("US dollars"),
  started_at: z.string().optional(),
  ended_at: z.string().optional(),
});

export const toRunView = (run: ScheduleRun): z.output<typeof RunView> => {
  const { id, project_id: _project, cost_before: _before, created_at: _created, ...rest } = run;
  const { name: _name, kept_events: _kept, ...shown } = rest;
  return { ...shown, run_id: id };
};

export async function findSchedule(store: HubStore, id: string): Promise<Schedule> {
  const found = await store.records<Schedule>("schedule").get(id);
  if (found) return found;
  throw new ToolError("NOT_FOUND", `there is no schedule '${id}'; schedule.list shows them`, { id });
}
