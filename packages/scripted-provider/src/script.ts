/** One turn of a scripted model in a provider-neutral form. */
export type ScriptedPart =
  | { readonly thinking: string }
  | { readonly text: string; readonly cites?: ScriptedSource }
  /** A search of the provider's own server; Anthropic alone can leave its result for the next answer. */
  | { readonly search: string; readonly id?: string; readonly sources?: readonly ScriptedSource[] }
  /** The result of a search in an earlier answer; Anthropic only. */
  | { readonly found: readonly ScriptedSource[]; readonly id: string }
  /** `namespace`: of the tool, OpenAI Responses only. */
  | { readonly call: string; readonly input: unknown; readonly id?: string; readonly namespace?: string };

export interface ScriptedSource {
  readonly title: string;
  readonly url: string;
}

export interface ScriptedUsage {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

export interface ScriptedTurn {
  readonly parts?: readonly ScriptedPart[];
  readonly stop?: "end" | "output_limit" | "refusal" | "pause";
  readonly usage?: ScriptedUsage;
  /** How the bytes are split: unchanged, one at a time, or at positions chosen by a seed. */
  readonly chunks?: "whole" | "byte" | { readonly seed: number };
  /** Before each event. */
  readonly delay_ms?: number;
  /** The maximum rate of events; finer than a delay. */
  readonly events_per_second?: number;
  readonly fault?: Fault;
}

export type Fault =
  /** Answers with an error instead of a stream. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  /** Drops the connection after this many events. */
  | { readonly cut_after: number }
  /** Sends nothing more after this many events, and leaves the connection open. */
  | { readonly stall_after: number }
  /** Inserts an event that is not JSON after this many events. */
  | { readonly malformed_after: number }
  /** Reports an error inside the stream after this many events. */
  | { readonly error_after: number; readonly kind: "overloaded" | "rate_limit" | "context_length" };

/** The request as a script sees it before it answers. */
export interface ScriptedRequest {
  readonly api: ApiName;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as received. */
  readonly raw: string;
  readonly body: unknown;
  readonly system: string;
  readonly tools: readonly string[];
  /** The model's answers in the conversation so far. */
  readonly answers: number;
  /** The results after the last answer. */
  readonly results: readonly ScriptedResult[];
  /** All results of the conversation, oldest first. */
  readonly all_results: readonly ScriptedResult[];
  /** The text of the last user message that is not a result. */
  readonly user: string;
}

export interface ScriptedResult {
  readonly text: string;
  readonly images: number;
}

export const API_NAMES = ["anthropic", "openai", "openai-chat", "gemini"] as const;
export type ApiName = (typeof API_NAMES)[number];

/** A list is played one turn per request; a function decides based on the request. */
export type Script = readonly ScriptedTurn[] | ((request: ScriptedRequest) => ScriptedTurn);
