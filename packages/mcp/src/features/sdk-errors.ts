import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { type ErrorCode, ToolError } from "@octant/core";

/** The caller's mistakes; all else is a failure of ours or of the machine. */
const ABOUT_PARAMS: ReadonlySet<ErrorCode> = new Set([
  "INVALID_ARGUMENT",
  "INVALID_CURSOR",
  "NOT_FOUND",
  "LIMIT_EXCEEDED",
]);

/** Outside of tool calls a failure has no envelope: it is an error of the protocol that names our code. */
export function toProtocolError(cause: unknown): never {
  if (!(cause instanceof ToolError)) throw cause;
  const code = ABOUT_PARAMS.has(cause.code)
    ? ProtocolErrorCode.InvalidParams
    : ProtocolErrorCode.InternalError;
  throw new ProtocolError(code, cause.message, { code: cause.code, details: cause.details });
}
