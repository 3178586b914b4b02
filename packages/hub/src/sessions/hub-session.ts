import type { EndReason } from "@octant/agent";
import { z } from "zod";
import type { KeepsEvents } from "../lifecycle/kept-events.ts";

export const SESSION_STATES = ["working", "idle", "ended"] as const;

/** A tool of the caller who spawned the session; the caller answers its calls. */
export const CallerTool = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, "a name is 1 to 64 small letters, digits and underscores"),
  description: z.string().min(1).max(2_000),
  input_schema: z.looseObject({ type: z.literal("object") }).describe("JSON Schema"),
  timeout_s: z.int().min(1).max(86_400).default(600),
});
export type CallerTool = z.output<typeof CallerTool>;

/** A message that may not have reached the log yet. */
export interface PendingMessage {
  readonly text: string;
  /** The number of the last event when it was sent; the message itself has a later one. */
  readonly after: number;
}

/** An agent at work in a workspace, as the hub stores it. Its events are in the log of the same id. */
export interface HubSession extends KeepsEvents {
  readonly id: string;
  readonly project_id: string;
  readonly workspace_id: string;
  readonly state: (typeof SESSION_STATES)[number];
  /** How its last run ended. */
  readonly outcome?: EndReason | "error";
  /** Why its last run was not done. */
  readonly problem?: string | undefined;
  /** Why it does not work yet: no host has room. */
  readonly waiting?: string | undefined;
  readonly model?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly caller_tools: readonly CallerTool[];
  readonly pending: readonly PendingMessage[];
  /** Keys of messages that it has had, newest last. */
  readonly message_keys?: readonly string[];
  /** The session that spawned it, and the first one of the tree. */
  readonly parent_id?: string;
  readonly root_id: string;
  /** The session whose events it began with. */
  readonly forked_from?: string;
  readonly depth: number;
  /** US dollars so far. */
  readonly cost: number;
  /** The part of `cost` that came with the copied events of a fork; its tree has not spent it. */
  readonly copied_cost?: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export const SessionView = z.object({
  session_id: z.string(),
  project_id: z.string(),
  workspace_id: z.string(),
  state: z.enum(SESSION_STATES),
  outcome: z.string().optional(),
  problem: z.string().optional(),
  waiting: z.string().optional().describe("Why it does not work yet"),
  model: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  parent_id: z.string().optional(),
  forked_from: z.string().optional(),
  depth: z.int(),
  cost: z.number().describe("US dollars"),
  queued: z.int().describe("Messages that it has not read yet"),
  created_at: z.string(),
  updated_at: z.string(),
});
export type SessionView = z.output<typeof SessionView>;

export function toSessionView(session: HubSession): SessionView {
  const { id, pending, ...rest } = session;
  const {
    caller_tools: _tools,
    root_id: _root,
    message_keys: _keys,
    kept_events: _kept,
    copied_cost: _copied,
    ...shown
  } = rest;
  return { ...shown, session_id: id, cost: toPrice(shown.cost), queued: pending.length };
}

const PARTS_OF_A_DOLLAR = 1_000_000;

/** Without the error of adding many small numbers. */
export const toPrice = (cost: number): number => Math.round(cost * PARTS_OF_A_DOLLAR) / PARTS_OF_A_DOLLAR;
