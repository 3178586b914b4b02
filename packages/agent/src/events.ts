import type { ErrorCode } from "@octant/core";
import type { PermissionRule } from "@octant/runtime";
import type { Model, StopReason, ToolDefinition } from "./api-client.ts";
import type { AssistantMessage, Message, UserOrigin, UserPart } from "./messages.ts";
import type { CallOutline, ToolFacts } from "./tool-executor.ts";
import type { Usage } from "./usage.ts";

/**
 * Why a run ended. `done`: the model has nothing more to do. The limits have the names of the options that set them.
 */
export const END_REASONS = [
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
] as const;
export type EndReason = (typeof END_REASONS)[number];

/** Stored events. They are on disk before a listener sees them. */
export type StoredEvent =
  | SessionBegan
  | UserSaid
  | ModelAnswered
  | ToolBegan
  | ToolEnded
  | PermissionAsked
  | PermissionAnswered
  | Compacted
  | ToolsAdded
  | ModelChanged
  | Titled
  | Noticed
  | RunEnded
  | Spent
  | Marked;

/** Events for current listeners only: their sum is stored when it is complete. */
export type LiveEvent =
  | { readonly type: "text_delta"; readonly text: string }
  | { readonly type: "thinking_delta"; readonly text: string }
  | { readonly type: "call_delta"; readonly call_id: string; readonly name?: string; readonly text: string }
  | {
      readonly type: "tool_progress";
      readonly call_id: string;
      readonly progress: number;
      readonly total?: number;
      readonly message?: string;
    }
  /** Voids the deltas since the last stored event: the request is sent again. */
  | { readonly type: "retry"; readonly attempt: number; readonly delay_ms: number; readonly reason: string }
  | { readonly type: "compaction_began"; readonly tokens: number }
  | { readonly type: "queued"; readonly content: readonly UserPart[]; readonly queue_length: number };

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
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
  readonly model: Model;
  readonly cwd: string;
  /** The session whose call started this one, or of which this is a fork. */
  readonly parent?: { readonly session_id: string; readonly kind: "agent" | "fork"; readonly seq?: number };
}

export interface UserSaid {
  readonly type: "user";
  readonly origin: UserOrigin;
  readonly content: readonly UserPart[];
}

export interface ModelAnswered {
  readonly type: "message";
  readonly message: AssistantMessage;
  readonly stop: StopReason;
  readonly usage: Usage;
  /** US dollars; null when the price is unknown. */
  readonly cost: number | null;
  /** The provider's explanation of a refusal. */
  readonly detail?: string;
  readonly context: { readonly used_tokens: number; readonly size_tokens: number };
}

export interface ToolBegan extends CallOutline {
  readonly type: "tool_began";
  readonly call_id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ToolEnded {
  readonly type: "tool_ended";
  readonly call_id: string;
  readonly name: string;
  readonly content: readonly UserPart[];
  readonly is_error: boolean;
  readonly code?: ErrorCode;
  readonly facts?: ToolFacts;
  readonly duration_ms: number;
}

export interface PermissionAsked {
  readonly type: "permission_asked";
  readonly permission_id: string;
  readonly call_id: string;
  /** Such as `fs.write`. */
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly preview?: string;
  /** The rule that "always" would add; without it that answer is not offered. */
  readonly always?: PermissionRule;
}

export interface PermissionAnswered {
  readonly type: "permission_answered";
  readonly permission_id: string;
  readonly call_id: string;
  readonly answer: "once" | "session" | "always" | "deny" | "unattended" | "cancelled";
  readonly reason?: string;
}

/** From here on the conversation is `messages`; earlier messages stay in the log. */
export interface Compacted {
  readonly type: "compaction";
  readonly cause: "budget" | "context_length" | "asked";
  readonly messages: readonly Message[];
  readonly tokens_before: number;
  readonly tokens_after: number;
  /** Whether the model wrote the summary; otherwise the text was cut. */
  readonly summarized: boolean;
  /** For the summary request. */
  readonly usage: Usage;
  readonly cost: number | null;
}

export interface ToolsAdded {
  readonly type: "tools_added";
  readonly tools: readonly ToolDefinition[];
}

export interface ModelChanged {
  readonly type: "model_changed";
  readonly model: Model;
}

export interface Titled {
  readonly type: "title";
  readonly title: string;
}

/** A message for the person. */
export interface Noticed {
  readonly type: "notice";
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}

export interface RunEnded {
  readonly type: "end";
  readonly reason: EndReason;
  /** What happened and what to do next, unless the run is done. */
  readonly message?: string;
  /** For the whole session. */
  readonly usage: Usage;
  readonly cost: number | null;
  readonly turns: number;
}

/** Spending on models for this session outside of its own requests. */
export interface Spent {
  readonly type: "spent";
  /** The sub-agent or the tool that spent it. */
  readonly by: string;
  /** Answers of models that count for limits of turns. */
  readonly turns: number;
  readonly usage: Usage;
  readonly cost: number | null;
}

/** For features on top of sessions, such as checkpoints and plans. The loop passes it on without reading it. */
export interface Marked {
  readonly type: "mark";
  readonly name: string;
  readonly data: unknown;
}
