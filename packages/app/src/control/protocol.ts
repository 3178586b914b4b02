import { FORM_ANSWERS, PERMISSION_ANSWERS } from "@octant/core";
import { z } from "zod";

/** An answer to a question. */
export const ControlAnswer = z.object({
  answer: z.enum([...PERMISSION_ANSWERS, ...FORM_ANSWERS]),
  /** Why it was denied. */
  reason: z.string().max(1_000).optional(),
  /** The values of a form. */
  content: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
    .optional(),
  /** Who answered. */
  by: z.string().max(100),
});
export type ControlAnswer = z.output<typeof ControlAnswer>;

/** One JSON object per line, both ways, on a socket that only its owner can open. */
export const ControlRequest = z.discriminatedUnion("method", [
  z.object({ id: z.int(), method: z.literal("status") }),
  z.object({
    id: z.int(),
    method: z.literal("follow"),
    /** Only these topics; all when absent. */
    topics: z.array(z.string()).optional(),
    /** Starts with the retained events. */
    retained: z.boolean().optional(),
  }),
  z.object({ id: z.int(), method: z.literal("answer"), question_id: z.string(), answer: ControlAnswer }),
]);
export type ControlRequest = z.output<typeof ControlRequest>;

/** A session of the agent in a process. */
export const SessionStatus = z.object({
  session_id: z.string(),
  title: z.string(),
  model: z.string(),
  state: z.enum(["working", "waiting", "idle"]),
  turns: z.int(),
  cost: z.number().nullable(),
});
export type SessionStatus = z.output<typeof SessionStatus>;

/** The state of a process of this person. */
export const ProcessStatus = z.object({
  pid: z.int(),
  version: z.string(),
  /** The command that started it, such as `serve` or `chat`. */
  command: z.string(),
  started_at: z.string(),
  roots: z.array(z.string()),
  /** The MCP clients that have called it, as they name themselves; the last one first. */
  clients: z.array(z.string()),
  state: z.enum(["working", "waiting", "idle"]),
  running_calls: z.int(),
  sessions: z.array(SessionStatus),
  /** They wait for an answer: `octant answer`. */
  questions: z.array(z.looseObject({ question_id: z.string() })),
});
export type ProcessStatus = z.output<typeof ProcessStatus>;

/** An event of a topic, as readers get it; `dropped` counts those that the reader was too slow for. */
export const ControlEvent = z.looseObject({
  topic: z.string(),
  seq: z.int(),
  at: z.number(),
  dropped: z.int().optional(),
});
export type ControlEvent = z.output<typeof ControlEvent>;

export const ControlReply = z.union([
  z.object({ id: z.int(), result: z.unknown() }),
  z.object({ id: z.int(), error: z.object({ code: z.string(), message: z.string() }) }),
  z.object({ event: ControlEvent }),
]);
export type ControlReply = z.output<typeof ControlReply>;
