import { ApiError, type ApiFailure } from "../api-error.ts";
import { retryAfterMs } from "./backoff.ts";
import { fieldOf, stringOf } from "./wire.ts";

const MAX_MESSAGE_CHARS = 600;

/** The providers' messages when a conversation is too long. */
const TOO_LONG =
  /prompt is too long|context[ _-]?(?:length|window|size)|maximum (?:context|prompt|input|number of tokens)|input (?:is too long|token count|length)|too many (?:input )?tokens|reduce the length|exceed[a-z]* (?:the |its |this )?(?:model'?s? )?(?:max|limit of \d+ tokens)|larger than the maximum/i;
const NOT_TOO_LONG = /rate limit|too many requests|per minute|per day|quota/i;
const NO_MONEY = /insufficient_quota|usage_limit_reached|usage_not_included|billing|credit balance|payment/i;

const PROXY_REFUSED = 407;
const PROXY_MESSAGE =
  "the proxy refused its credentials; check the name and password in HTTP_PROXY or HTTPS_PROXY";

interface HttpFailure {
  readonly status: number;
  readonly headers: Headers;
}

/** The error of a response that is not 2xx. */
export function toHttpError(provider: string, { status, headers }: HttpFailure, body: string): ApiError {
  const { message, kind } =
    status === PROXY_REFUSED ? { message: PROXY_MESSAGE, kind: "" } : describeBody(body);
  const failure = failureOf(status, kind, message);
  const after = retryAfterMs(headers, message, Date.now());
  return new ApiError(failure, explain(provider, failure, message || `HTTP ${status}`), {
    status,
    ...(after !== undefined && { retryAfterMs: after }),
  });
}

/** The error that a provider reports inside of a stream that started normally. */
export function toStreamError(provider: string, error: unknown): ApiError {
  const kind = kindOf(error);
  const message = stringOf(error, "message") || kind.trim();
  const failure = failureOf(statusOfKind(kind), kind, message);
  const after = retryAfterMs(new Headers(), message, Date.now());
  return new ApiError(failure, explain(provider, failure, message), {
    ...(after !== undefined && { retryAfterMs: after }),
  });
}

export const brokenStream = (what: string): ApiError =>
  new ApiError("broken", `the stream was interrupted: ${what}`);

const kindOf = (error: unknown): string =>
  ["type", "code", "status"].map((name) => stringOf(error, name)).join(" ");

function describeBody(body: string): { message: string; kind: string } {
  try {
    const parsed: unknown = JSON.parse(body);
    const found = fieldOf(Array.isArray(parsed) ? parsed[0] : parsed, "error") ?? parsed;
    if (typeof found === "string") return { message: found, kind: "" };
    return { message: stringOf(found, "message") || body, kind: kindOf(found) };
  } catch {
    return { message: body, kind: "" };
  }
}

function failureOf(status: number, kind: string, message: string): ApiFailure {
  const said = `${kind} ${message}`;
  const isTooLong = (TOO_LONG.test(said) && !NOT_TOO_LONG.test(said)) || status === 413;
  if (/context_length_exceeded/.test(said)) return "context_length";
  if (status === 401 || status === 403) return "auth";
  if (status === 402 || NO_MONEY.test(said)) return "quota";
  if (status === 404) return "not_found";
  if (status === 429) return "rate_limit";
  if (status === 529 || status === 503) return "overloaded";
  if (status >= 500 && !isTooLong) return "server";
  if (status === 408 || status === 409 || status === 425) return "server";
  return isTooLong ? "context_length" : "invalid";
}

function statusOfKind(kind: string): number {
  if (/rate_limit|RESOURCE_EXHAUSTED|slow_down/.test(kind)) return 429;
  if (/overloaded|UNAVAILABLE/.test(kind)) return 529;
  if (/authentication|permission|UNAUTHENTICATED|PERMISSION_DENIED/.test(kind)) return 401;
  if (/not_found/.test(kind)) return 404;
  if (/invalid|INVALID/.test(kind)) return 400;
  return 500;
}

function explain(provider: string, failure: ApiFailure, message: string): string {
  const said = toPlain(message);
  if (failure === "auth")
    return `${provider} refused the credentials: ${said}; \`octant login ${provider}\` or the provider's API key variable sets others`;
  if (failure === "not_found") return `${provider}: ${said}; check --model and the base URL`;
  if (failure === "quota") return `${provider}: ${said}; the account has no budget left for this model`;
  return `${provider}: ${said}`;
}

/** One line without control characters: it comes from a server, and people read it in a terminal. */
function toPlain(text: string): string {
  const line = text.replace(/\p{Cc}+/gu, " ").trim();
  return line.length > MAX_MESSAGE_CHARS ? `${line.slice(0, MAX_MESSAGE_CHARS).toWellFormed()}…` : line;
}
