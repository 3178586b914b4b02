import type { ApiName } from "../script.ts";
import { checkAnthropic } from "./anthropic.ts";
import { checkGemini } from "./gemini.ts";
import { checkChat } from "./openai-chat.ts";
import { checkResponses } from "./openai-responses.ts";
import { type Json, Refused, type Sent } from "./rules.ts";

const MAX_BODY_BYTES = 32 * 1024 * 1024;

const CHECKS: Readonly<Record<ApiName, (body: Json, sent: Sent) => void>> = {
  anthropic: checkAnthropic,
  openai: checkResponses,
  "openai-chat": checkChat,
  gemini: checkGemini,
};

/** The error with which the real API refuses a request; undefined when it accepts it. */
export function refusalOf(api: ApiName, raw: string, body: Json, sent: Sent): Refusal | undefined {
  if (Buffer.byteLength(raw) > MAX_BODY_BYTES) return toRefusal(api, 413, "Request exceeds the maximum size");
  try {
    CHECKS[api](body, sent);
    return undefined;
  } catch (cause) {
    if (cause instanceof Refused) return toRefusal(api, 400, cause.message);
    throw cause;
  }
}

interface Refusal {
  readonly status: number;
  readonly body: unknown;
}

function toRefusal(api: ApiName, status: number, message: string): Refusal {
  if (api === "anthropic")
    return { status, body: { type: "error", error: { type: "invalid_request_error", message } } };
  if (api === "gemini")
    return { status, body: { error: { code: status, message, status: "INVALID_ARGUMENT" } } };
  return { status, body: { error: { message, type: "invalid_request_error", param: null, code: null } } };
}
