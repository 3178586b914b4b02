import { randomUUID } from "node:crypto";

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;
const ZERO_TRACE = "0".repeat(32);

/** The trace id of a W3C traceparent, or a new one when it is missing or invalid. */
export function toTraceId(traceparent: unknown): string {
  const [, trace] = (typeof traceparent === "string" && TRACEPARENT.exec(traceparent)) || [];
  return trace && trace !== ZERO_TRACE ? trace : randomUUID().replaceAll("-", "");
}
