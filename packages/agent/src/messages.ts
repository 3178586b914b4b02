/**
 * The conversation in a form that every provider's client understands. It is stored in session logs, so its names are
 * wire names and fields are only added.
 */
export type Message = UserMessage | AssistantMessage | ToolMessage;

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly native?: Native;
}

export interface ImagePart {
  readonly type: "image";
  readonly mime: string;
  /** Base64. */
  readonly data: string;
}

/** The model's thinking before its answer; the text may be empty when the provider withholds it. */
export interface ThinkingPart {
  readonly type: "thinking";
  readonly text: string;
  readonly native?: Native;
}

export interface ToolCallPart {
  readonly type: "tool_call";
  /** Unique within a session. */
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it: it may be invalid, and it is sent back unchanged. */
  readonly arguments: string;
  readonly native?: Native;
}

/**
 * A step of a web search that the provider's own server made: the question, what it found, or both. The found text is
 * of strangers. Only the provider that made it can read it back.
 */
export interface WebSearchPart {
  readonly type: "web_search";
  /** The same for the question and its result. */
  readonly search_id: string;
  /** Whether the result is here. */
  readonly done: boolean;
  readonly queries: readonly string[];
  readonly sources: readonly WebSource[];
  /** Why the search failed, in the provider's words. */
  readonly error?: string;
  readonly native: Native;
}

export interface WebSource {
  readonly title: string;
  readonly url: string;
}

/** A part in the provider's own form, which that provider expects back unchanged and no other understands. */
export interface Native {
  readonly api: string;
  readonly data: unknown;
}

export type UserPart = TextPart | ImagePart;
export type AssistantPart = TextPart | ThinkingPart | ToolCallPart | WebSearchPart;

/**
 * `person`: typed by a person. `context`: added by the agent, such as diagnostics. `summary`: replaces compacted
 * messages.
 */
export type UserOrigin = "person" | "context" | "summary";

export interface UserMessage {
  readonly role: "user";
  readonly origin: UserOrigin;
  readonly content: readonly UserPart[];
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly AssistantPart[];
}

/** The results of all calls in the preceding assistant message, in order. */
export interface ToolMessage {
  readonly role: "tool";
  readonly results: readonly ToolResultPart[];
}

export interface ToolResultPart {
  readonly call_id: string;
  readonly name: string;
  readonly content: readonly UserPart[];
  readonly is_error: boolean;
}

export const toolCallsOf = (message: AssistantMessage): readonly ToolCallPart[] =>
  message.content.filter((part) => part.type === "tool_call");

/** The text of parts, without thinking, calls and images. */
export const textOf = (parts: readonly (UserPart | AssistantPart)[]): string =>
  parts
    .filter((part) => part.type === "text")
    .map(({ text }) => text)
    .join("");

export const textParts = (text: string): readonly TextPart[] => [{ type: "text", text }];
