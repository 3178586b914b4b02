import { type Envelope, FORM_ANSWERS, PERMISSION_ANSWERS } from "@octant/core";
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

/** For whom another process of the same person calls. */
export const ControlCaller = z.object({
  id: z.string().min(1).max(200),
  access: z.enum(["read", "write", "admin"]),
  project: z.string().optional(),
  sees: z.literal("all").optional(),
  remote: z.literal(true).optional(),
});

/** The answer to a call. */
export const ControlCallAnswer = z.object({
  envelope: z.custom<Envelope>((value) => typeof value === "object" && value !== null && "meta" in value),
  attachments: z.array(z.object({ kind: z.enum(["image", "audio"]), mime: z.string(), base64: z.string() })),
});
export type ControlCallAnswer = z.output<typeof ControlCallAnswer>;

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
  /** Somebody watches: events come in batches, calls are recorded in full, and questions reach a person. */
  z.object({
    id: z.int(),
    method: z.literal("attend"),
    /** Begins with the retained calls that ended after this time, in milliseconds since 1970, and with all that run. */
    after: z.number().optional(),
  }),
  /** A call through the whole pipeline, as this caller. `console` is the person's own tool. */
  z.object({
    id: z.int(),
    method: z.literal("call"),
    caller: ControlCaller,
    tool: z.string(),
    action: z.string(),
    input: z.unknown(),
  }),
  /** Cancels the call with that id. */
  z.object({ id: z.int(), method: z.literal("cancel"), call: z.int() }),
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
  /** The tools that can be called through this process: none of an edge. A process of an earlier version does not say. */
  tools: z.array(z.string()).optional(),
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

/** Events of an attended process. Only a reader who sees all gets those of other owners. */
export const AttendedBatch = z.object({
  events: z.array(
    z.object({ topic: z.string(), at: z.number(), owner: z.string().optional(), event: z.looseObject({}) }),
  ),
  /** Lost since the last batch, because the reader was too slow. */
  lost: z.int().optional(),
});
export type AttendedBatch = z.output<typeof AttendedBatch>;

export const ControlReply = z.union([
  z.object({ id: z.int(), result: z.unknown() }),
  z.object({ id: z.int(), error: z.object({ code: z.string(), message: z.string() }) }),
  z.object({ event: ControlEvent }),
  z.object({ batch: AttendedBatch }),
]);
export type ControlReply = z.output<typeof ControlReply>;
