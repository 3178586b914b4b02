import { createTopic, type Topic } from "@octant/core";
import type { RecordKind } from "../store/hub-store.ts";

export const LIFECYCLE_TYPES = [
  "project.created",
  "project.deleted",
  "session.started",
  "session.working",
  "session.idle",
  "session.failed",
  "session.ended",
  "session.deleted",
  "workspace.merged",
  "container.started",
  "container.stopped",
  "container.removed",
  "schedule.started",
  "schedule.skipped",
  "schedule.ended",
] as const;

/** Something began or ended in a project: ids and facts, no texts of sessions. */
export interface LifecycleEvent {
  readonly type: (typeof LIFECYCLE_TYPES)[number];
  readonly project_id: string;
  readonly session_id?: string | undefined;
  readonly workspace_id?: string | undefined;
  readonly schedule_id?: string | undefined;
  /** How a run of a session or a schedule ended. */
  readonly outcome?: string | undefined;
  /** US dollars. */
  readonly cost?: number | undefined;
  /** The record that keeps the event until webhooks have it. */
  readonly kept?: { readonly kind: RecordKind; readonly id: string; readonly event_id: string } | undefined;
}

export type LifecycleTopic = Topic<LifecycleEvent>;

/** The topic that schedules, webhooks and metrics listen to. */
export const createLifecycle = (now: () => number): LifecycleTopic => createTopic<LifecycleEvent>({ now });
