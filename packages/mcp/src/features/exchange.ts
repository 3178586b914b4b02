import type { Plain } from "../messages.ts";

/** A request to the client: to its person, its model, or itself. */
export interface InputRequest {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params: Plain;
}

/** Each under a name of its own; the answers come back under the same names. */
export type InputRequests = Readonly<Record<string, InputRequest>>;

export const LOG_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a tool that is made for MCP itself can do with the client. All others do with what `Context` has. */
export interface Exchange {
  /** What the client said that it can. */
  readonly capabilities: Plain;
  /** Resolves with the answers; what the client refused to answer is missing. */
  request(inputs: InputRequests): Promise<Plain>;
  /** Ends the call with an error that names these when the client lacks one of them. */
  require(capabilities: Plain): void;
  /** Reaches clients that asked for logs of this level. */
  log(level: LogLevel, data: unknown): void;
}
