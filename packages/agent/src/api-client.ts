import type { Thinking } from "@octant/runtime";
import type { AssistantMessage, Message } from "./messages.ts";
import type { Price, Usage } from "./usage.ts";

/** What is known about a model. */
export interface Model {
  readonly id: string;
  readonly provider: string;
  /** Tokens of input and output together. */
  readonly context_tokens: number;
  readonly max_output_tokens: number;
  /** Null when it is not known. */
  readonly price: Price | null;
  readonly images: boolean;
  readonly thinking: boolean;
  /** How much it thinks; the provider's default when absent. */
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
  /** JSON Schema that the last answer has to fit, where the API can enforce one. */
  readonly output_schema?: Readonly<Record<string, unknown>>;
  /** The same for all requests of a session; routes them to the same cache where the API wants that. */
  readonly cache_key?: string;
}

/** Why a model stopped. `end`: it is done. `pause`: it wants to go on in another request. */
export type StopReason = "end" | "tool_calls" | "output_limit" | "refusal" | "pause";

/**
 * What comes while a model answers. The deltas are for showing; `done` comes last, exactly once, with everything.
 * After `retry` all deltas before it are void.
 */
export type StreamEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "call_begin"; readonly call_id: string; readonly name: string }
  | { readonly type: "call_arguments"; readonly call_id: string; readonly text: string }
  | {
      readonly type: "retry";
      readonly attempt: number;
      readonly delay_ms: number;
      readonly reason: string;
    }
  | {
      readonly type: "done";
      readonly message: AssistantMessage;
      readonly stop: StopReason;
      readonly usage: Usage;
      /** Of a refusal, in the provider's words. */
      readonly detail?: string;
    };

/** Talks to a model. Failures are thrown as ApiError; an aborted signal is thrown as its reason. */
export interface ApiClient {
  readonly model: Model;
  send(request: ModelRequest, signal: AbortSignal): AsyncIterable<StreamEvent>;
}
