import type { Thinking } from "@octant/runtime";
import type { AssistantMessage, Message, WebSearchPart } from "./messages.ts";
import type { Price, Usage } from "./usage.ts";

/** The facts about a model. */
export interface Model {
  readonly id: string;
  readonly provider: string;
  /** Tokens of input and output together. */
  readonly context_tokens: number;
  readonly max_output_tokens: number;
  /** null when unknown. */
  readonly price: Price | null;
  readonly images: boolean;
  readonly thinking: boolean;
  /** The provider's own web search is offered to it. */
  readonly web_search?: boolean;
  /** The thinking effort; the provider's default when absent. */
  readonly effort?: Thinking;
}

/** A tool as the model sees it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly input_schema: Readonly<Record<string, unknown>>;
}

/**
 * One request. Clients render it so that the bytes of an unchanged prefix (system, tools, earlier messages) are
 * the same in every request: providers cache by prefix.
 */
export interface ModelRequest {
  readonly system: string;
  /** In a fixed order; new ones come last. */
  readonly tools: readonly ToolDefinition[];
  readonly messages: readonly Message[];
  readonly max_output_tokens?: number;
  /** A JSON Schema for the last answer, where the API can enforce one. */
  readonly output_schema?: Readonly<Record<string, unknown>>;
  /** The same for all requests of a session; routes them to the same cache where the API needs that. */
  readonly cache_key?: string;
}

/** Why a model stopped. `end`: it is done. `pause`: it wants to continue in another request. */
export type StopReason = "end" | "tool_calls" | "output_limit" | "refusal" | "pause";

/** A part of an answer, for display. */
export type Delta =
  | { readonly type: "text_delta"; readonly text: string }
  | { readonly type: "thinking_delta"; readonly text: string }
  /** The first one of a call has its name. */
  | { readonly type: "call_delta"; readonly call_id: string; readonly name?: string; readonly text: string }
  /** The provider's server searches the web, or has found something. */
  | ({ readonly type: "web_search" } & Omit<WebSearchPart, "type" | "native">)
  /** Voids all deltas of this answer: the request is sent again. */
  | {
      readonly type: "retry";
      /** The attempt that failed; the first one is 1. */
      readonly attempt: number;
      readonly max_attempts?: number;
      readonly delay_ms: number;
      readonly reason: string;
    };

/** The whole answer. */
export interface Answer {
  readonly type: "done";
  readonly message: AssistantMessage;
  readonly stop: StopReason;
  readonly usage: Usage;
  /** The provider's explanation of a refusal. */
  readonly detail?: string;
}

/** The events of a streamed answer; `done` comes last, exactly once. */
export type StreamEvent = Delta | Answer;

/** Talks to a model. Throws an ApiError for failures, and the signal's reason when aborted. */
export interface ApiClient {
  readonly model: Model;
  send(request: ModelRequest, signal: AbortSignal): AsyncIterable<StreamEvent>;
}
