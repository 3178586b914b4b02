import { type ErrorCode, ToolError } from "@octant/core";
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  invalidParams,
  type Plain,
  ProtocolError,
  stringOf,
} from "../messages.ts";

/** The caller's mistakes; all other codes are failures of the server or the machine. */
const ABOUT_PARAMS: ReadonlySet<ErrorCode> = new Set([
  "INVALID_ARGUMENT",
  "INVALID_CURSOR",
  "NOT_FOUND",
  "LIMIT_EXCEEDED",
]);

/** Outside of tool calls a failure has no envelope: it is a protocol error that names our code. */
export function toProtocolError(cause: unknown): never {
  if (!(cause instanceof ToolError)) throw cause;
  const { code, message, details } = cause;
  throw new ProtocolError(ABOUT_PARAMS.has(code) ? INVALID_PARAMS : INTERNAL_ERROR, message, {
    code,
    details,
  });
}

/** undefined for the first page. */
export const cursorOf = (params: Plain): string | undefined =>
  params["cursor"] === undefined ? undefined : stringOf(params, "cursor");

/** For lists with one page. */
export function refuseCursor(params: Plain): void {
  if (cursorOf(params) !== undefined) throw invalidParams("Invalid cursor: the list has one page");
}
