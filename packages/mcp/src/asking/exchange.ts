import type { Ask } from "@octant/core";
import type { Plain } from "../messages.ts";

/** A request to the client: to its person, its model, or itself. */
export interface InputRequest {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params: Plain;
}

/** Each under its own name; the answers come back under the same names. */
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

/** Whether a client that requested logs of `threshold` gets one of `level`. */
export const isLogged = (level: LogLevel, threshold: LogLevel): boolean =>
  LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(threshold);

/** Access to the client for tools made for MCP itself. All others use `Context`. */
export interface Exchange {
  /** The capabilities that the client declared. */
  readonly capabilities: Plain;
  /** Resolves with the answers; requests that the client refused are missing. */
  request(inputs: InputRequests): Promise<Plain>;
  /** Ends the call with an error that lists the missing capabilities, if any. */
  require(capabilities: Plain): void;
  /** Sent to clients that requested logs of this level. */
  log(level: LogLevel, data: unknown): void;
}

/** The client of one request, until the request is answered. */
export interface RequestClient {
  readonly ask: Ask;
  readonly exchange: Exchange;
  /** The result that requests input instead of the answer; throws when a required capability is missing. */
  inputRequired(): Plain | undefined;
}

/** The needed capabilities that are not declared, in the shape of a declaration. */
export function lackOf(needed: Plain, declared: Plain): Plain | undefined {
  const lacking = Object.entries(needed).flatMap(([name, inside]) => {
    const has = declared[name];
    if (!isObject(has)) return [[name, inside]];
    const deeper = isObject(inside) ? lackOf(inside, has) : undefined;
    return deeper ? [[name, deeper]] : [];
  });
  return lacking.length > 0 ? Object.fromEntries(lacking) : undefined;
}

const isObject = (value: unknown): value is Plain => typeof value === "object" && value !== null;
