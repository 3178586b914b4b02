import type { Progress, QuestionOutcome } from "@octant/core";
import type { Answer, Delta, Model, ToolDefinition } from "./api-client.ts";
import type { Message, UserOrigin, UserPart } from "./messages.ts";
import type { CallOutline, ToolCall, ToolResult } from "./tool-executor.ts";
import type { Usage } from "./usage.ts";

/** Why a run ended. `done`: the model has nothing more to do. The limits have the names of the options that set them. */
export type EndReason =
  | "done"
  | "cancelled"
  | "refused"
  | "output_limit"
  | "max_turns"
  | "max_tokens"
  | "max_cost"
  | "max_time"
  | "repeated_calls"
  | "failed";

/** Stored events. They are on disk before a listener sees them. */
export type StoredEvent =
  | SessionBegan
  | { readonly type: "user"; readonly origin: UserOrigin; readonly content: readonly UserPart[] }
  | ModelAnswered
  /** The part of an answer that was shown before the run was stopped. */
  | { readonly type: "stopped"; readonly text: string }
  | ToolBegan
  | ToolEnded
  | PermissionAsked
  | PermissionAnswered
  | Compacted
  | { readonly type: "tools_added"; readonly tools: readonly ToolDefinition[] }
  | { readonly type: "model_changed"; readonly model: Model }
  | { readonly type: "title"; readonly title: string }
  /** A message for the person. */
  | { readonly type: "notice"; readonly level: "info" | "warning" | "error"; readonly text: string }
  | RunEnded
  | Spent
  | Marked;

/** Events for current listeners only: their sum is stored when it is complete. */
export type LiveEvent =
  | Delta
  | ({ readonly type: "tool_progress"; readonly call_id: string } & Progress)
  | { readonly type: "compaction_began"; readonly tokens: number }
  | { readonly type: "queued"; readonly content: readonly UserPart[]; readonly queue_length: number }
  /** Queued messages that the run never read, because it was stopped or failed; they will not be delivered. */
  | { readonly type: "unsent"; readonly messages: readonly (readonly UserPart[])[] };

/** The numbers of stored events are consecutive; a live event has the number of the stored one before it. */
export interface EventStamp {
  readonly seq: number;
  readonly session_id: string;
  /** ISO 8601. */
  readonly at: string;
}

export type AgentEvent = (StoredEvent | LiveEvent) & EventStamp;
export type StampedEvent = StoredEvent & EventStamp;

/** Everything that the requests of a session have in common, so that it is the same after a resume. */
export interface SessionBegan {
  readonly type: "session_began";
  /** The format of the log; absent in the first ones. */
  readonly format?: number;
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  readonly model: Model;
  readonly cwd: string;
  /** The session whose call started this one, or of which this is a fork. */
  readonly parent?: {
    readonly session_id: string;
    readonly kind: "agent" | "fork";
    readonly seq?: number;
    /** Of a sub-agent. */
    readonly role?: string;
  };
}

/** Tokens, and their price in US dollars; null when it is unknown. */
interface Cost {
  readonly usage: Usage;
  readonly cost: number | null;
}

interface ModelAnswered extends Omit<Answer, "type">, Cost {
  readonly type: "message";
  readonly context: { readonly used_tokens: number; readonly size_tokens: number };
}

export interface ToolBegan extends CallOutline, Omit<ToolCall, "id"> {
  readonly type: "tool_began";
  readonly call_id: string;
}

export interface ToolEnded extends ToolResult {
  readonly type: "tool_ended";
  readonly call_id: string;
  readonly name: string;
  readonly duration_ms: number;
}

/** A question of a call to the person; the ids are those of the question. */
interface PermissionAsked {
  readonly type: "permission_asked";
  readonly permission_id: string;
  readonly call_id: string;
  /** Absent for a permission. */
  readonly kind?: "form" | "confirmation";
  /** Such as `fs.write`. */
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Why the person is asked; the message of a form or confirmation. */
  readonly reason: string;
  /** Where the rule is written that asks. */
  readonly tier?: string;
  readonly preview?: string;
  /** The rule that "always" would add; without it that answer is not offered. */
  readonly always?: Readonly<Record<string, unknown>>;
}

interface PermissionAnswered {
  readonly type: "permission_answered";
  readonly permission_id: string;
  readonly call_id: string;
  readonly answer: QuestionOutcome["answer"] | "cancelled";
  readonly reason?: string;
}

/** From here on the conversation is `messages`; earlier messages stay in the log. The cost is that of the summary. */
export interface Compacted extends Cost {
  readonly type: "compaction";
  readonly cause: "budget" | "context_length" | "asked";
  readonly messages: readonly Message[];
  readonly tokens_before: number;
  readonly tokens_after: number;
  /** The last turns, which stay as they were, and their tokens; absent in older logs. */
  readonly kept?: { readonly turns: number; readonly tokens: number };
  /** Whether the model wrote the summary; otherwise the text was cut. */
  readonly summarized: boolean;
}

/** The end of a run, with the totals of the whole session. */
export interface RunEnded extends Cost {
  readonly type: "end";
  readonly reason: EndReason;
  /** What happened and what to do next, unless the run is done. */
  readonly message?: string;
  readonly turns: number;
}

/** Spending on models for this session outside of its own requests. */
export interface Spent extends Cost {
  readonly type: "spent";
  /** The sub-agent or the tool that spent it. */
  readonly by: string;
  /** Answers of models that count for limits of turns. */
  readonly turns: number;
}

/** For features on top of sessions, such as checkpoints and plans. The loop passes it on without reading it. */
export interface Marked {
  readonly type: "mark";
  readonly name: string;
  readonly data: unknown;
}
