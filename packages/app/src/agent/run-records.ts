import { setTimeout as delay } from "node:timers/promises";
import {
  type AgentEvent,
  cacheHitRate,
  NO_USAGE,
  type RunEnded,
  type Session,
  subtractUsage,
  textOf,
  tokensOf,
  Usage,
} from "@octant/agent";
import type { Ask, Topic } from "@octant/core";
import { z } from "zod";

/** The format of the records of `octant run --stream-json`: types and fields are only added to it. */
export const RUN_FORMAT = 1;

const END_REASONS = [
  "done",
  "cancelled",
  "refused",
  "output_limit",
  "max_turns",
  "max_tokens",
  "max_cost",
  "max_time",
  "repeated_calls",
  "failed",
] as const satisfies readonly RunEnded["reason"][];

/** The last record of every run. */
export const RunResult = z.object({
  type: z.literal("result"),
  format: z.literal(RUN_FORMAT),
  /** null when the run ended before there was a session. */
  session_id: z.string().nullable(),
  reason: z.enum(END_REASONS),
  /** What happened and what to do next; null for a run that is done. */
  message: z.string().nullable(),
  /** The model's last answer, or the text of a slash command. */
  text: z.string(),
  /** The answer as a value, where a schema was given and it fits. */
  output: z.unknown().optional(),
  model: z.string(),
  provider: z.string(),
  /** Of this run; the session's totals are in its `end` event. */
  turns: z.int(),
  tokens: z.int(),
  usage: Usage,
  cache_hit_rate: z.number(),
  /** US dollars of this run; null when a part of it is unknown. */
  cost: z.number().nullable(),
  duration_ms: z.int(),
  changed_files: z.array(z.string()),
  /** Actions that no one could approve. */
  unapproved: z.array(z.string()),
  exit_code: z.int(),
});
export type RunResult = z.output<typeof RunResult>;

const stamp = {
  seq: z
    .int()
    .describe(
      "Consecutive for stored events; deltas, progress and other live ones have that of the last stored one",
    ),
  session_id: z.string(),
  at: z.iso.datetime(),
};
const event = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.looseObject({ type: z.literal(type), ...stamp, ...shape });

const Content = z.array(z.looseObject({ type: z.string() }));

/** One line of `octant run --stream-json`. A reader skips types and fields that it does not know. */
export const RunRecord = z.discriminatedUnion("type", [
  event("session_began", { cwd: z.string(), model: z.looseObject({ id: z.string(), provider: z.string() }) }),
  event("user", { origin: z.string(), content: Content }),
  event("text_delta", { text: z.string() }),
  event("thinking_delta", { text: z.string() }),
  event("call_delta", { call_id: z.string(), name: z.string().optional(), text: z.string() }),
  /** The provider's own web search: a question, or what it found. */
  event("web_search", {
    search_id: z.string(),
    done: z.boolean(),
    queries: z.array(z.string()),
    sources: z.array(z.object({ title: z.string(), url: z.string() })),
    error: z.string().optional(),
  }),
  event("retry", { attempt: z.int(), delay_ms: z.number(), reason: z.string() }),
  event("message", {
    message: z.looseObject({ role: z.literal("assistant"), content: Content }),
    usage: Usage,
  }),
  event("stopped", { text: z.string() }),
  event("tool_began", { call_id: z.string(), name: z.string(), title: z.string(), kind: z.string() }),
  event("tool_progress", { call_id: z.string(), progress: z.number() }),
  event("tool_ended", {
    call_id: z.string(),
    name: z.string(),
    is_error: z.boolean(),
    content: Content,
    duration_ms: z.number(),
  }),
  event("permission_asked", { permission_id: z.string(), call_id: z.string(), action: z.string() }),
  event("permission_answered", { permission_id: z.string(), call_id: z.string(), answer: z.string() }),
  event("compaction_began", { tokens: z.number() }),
  event("compaction", { tokens_before: z.number(), tokens_after: z.number() }),
  event("tools_added", {}),
  event("model_changed", {}),
  event("title", { title: z.string() }),
  event("notice", { level: z.enum(["info", "warning", "error"]), text: z.string() }),
  event("queued", { queue_length: z.int() }),
  /** Messages that the run never read, because it was stopped or failed: send them again if they still count. */
  event("unsent", { messages: z.array(Content) }),
  event("spent", { by: z.string(), cost: z.number().nullable() }),
  event("mark", { name: z.string() }),
  /** The end of a run, with the totals of the whole session. */
  event("end", { reason: z.enum(END_REASONS), turns: z.int(), cost: z.number().nullable() }),
  /** With `--input-json`: waits for an `answer` with this question_id. */
  z.looseObject({ type: z.literal("question"), question: z.looseObject({ question_id: z.string() }) }),
  /** With `--input-json`: a line on stdin that is not an input, which was ignored. */
  z.looseObject({ type: z.literal("input_error"), message: z.string() }),
  RunResult,
]);
export type RunRecord = z.output<typeof RunRecord>;

/** One line on stdin of `octant run --input-json`. */
export const RunInput = z.discriminatedUnion("type", [
  /** Starts a run, or reaches the model at its next step while one is in progress. */
  z.strictObject({ type: z.literal("message"), text: z.string().min(1) }),
  z.strictObject({
    type: z.literal("answer"),
    question_id: z.string(),
    answer: z.enum(["once", "session", "always", "deny", "accept", "decline", "cancel"]),
    reason: z.string().max(1_000).optional(),
    content: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
      .optional(),
  }),
  /** Ends the current run. */
  z.strictObject({ type: z.literal("interrupt") }),
]);
export type RunInput = z.output<typeof RunInput>;

/** The JSON Schema of both streams: a line of stdout is a `record`, a line of stdin an `input`. */
export const toRunSchema = () => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: `octant run --stream-json, format ${RUN_FORMAT}`,
  $defs: { record: toDefinition(RunRecord), input: toDefinition(RunInput) },
  $ref: "#/$defs/record",
});

function toDefinition(schema: z.ZodType) {
  const { $schema: _schema, ...definition } = z.toJSONSchema(schema);
  return definition;
}

/** Collects what the result record of a run says. */
export function createRunResult(session: Session) {
  const started = performance.now();
  const { turns, usage, knownCost, unpriced } = session.conversation;
  let text = "";
  return {
    listen(event: AgentEvent): void {
      if (event.type === "message") text = textOf(event.message.content) || text;
    },
    /** The last answer of the model. */
    text: () => text,
    finish({ reason, message }: Pick<RunEnded, "reason" | "message">, unapproved: Iterable<string>) {
      const { conversation } = session;
      const { model, changed } = conversation;
      const spent = subtractUsage(conversation.usage, usage);
      return {
        type: "result",
        format: RUN_FORMAT,
        session_id: session.id,
        reason,
        message: message ?? null,
        text,
        model: model?.id ?? "",
        provider: model?.provider ?? "",
        turns: conversation.turns - turns,
        tokens: tokensOf(spent),
        usage: spent,
        cache_hit_rate: cacheHitRate(spent),
        cost: conversation.unpriced > unpriced ? null : conversation.knownCost - knownCost,
        duration_ms: Math.round(performance.now() - started),
        changed_files: [...changed.keys()],
        unapproved: [...unapproved],
      } satisfies Omit<RunResult, "exit_code">;
    },
  };
}

/** The result of what failed before there was a session. */
export const toBareResult = (
  over: Pick<RunResult, "session_id" | "reason" | "message" | "text" | "exit_code">,
): RunResult => ({
  type: "result",
  format: RUN_FORMAT,
  ...over,
  model: "",
  provider: "",
  turns: 0,
  tokens: 0,
  usage: NO_USAGE,
  cache_hit_rate: 0,
  cost: 0,
  duration_ms: 0,
  changed_files: [],
  unapproved: [],
});

/** Collects the actions that no one could approve, of the agent and of its sub-agents, and what would allow each. */
export function watchUnapproved(events: Topic<AgentEvent>) {
  const asked = new Map<string, { readonly action: string; readonly way: string }>();
  const ways = new Map<string, string>();
  const stop = events.listen(({ value: event }) => {
    if (event.type === "permission_asked" && event.kind === undefined) {
      const { permission_id, action, tier } = event;
      // Without a sandbox no rule allows a command; the person has to accept that first.
      asked.set(permission_id, {
        action,
        way: tier === "sandbox" ? "octant sandbox accept" : `--allow ${action}`,
      });
    }
    if (event.type !== "permission_answered") return;
    const about = asked.get(event.permission_id);
    asked.delete(event.permission_id);
    if (about && event.answer === "unattended") ways.set(about.action, about.way);
  });
  return { ways, [Symbol.dispose]: stop };
}

/** The front end of a run without a person: other processes of the person answer, such as `octant answer`. */
export const waitForAnswers =
  (ms: number, log: (line: string) => void): Ask =>
  async ({ action, question_id }, signal) => {
    log(`${action} waits ${ms / 1_000} s for an answer: octant answer ${question_id}`);
    await delay(ms, undefined, { signal });
    return { answer: "unattended", reason: `nobody answered within ${ms / 1_000} s` };
  };
