import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient, Delta } from "../api-client.ts";
import { ApiError, type ApiFailure, isRetryable } from "../api-error.ts";
import { createBackoff } from "./backoff.ts";

export interface RetryOptions {
  readonly base_ms?: number;
  readonly max_ms?: number;
  readonly max_attempts?: number;
  /** All attempts and delays together. */
  readonly deadline_ms?: number;
  readonly random?: () => number;
}

const BASE_MS = 1_000;
const MAX_MS = 30_000;
const MAX_ATTEMPTS = 10;
const DEADLINE_MS = 10 * 60_000;

/**
 * Retries transient failures. An answer counts only when it is complete, and tools run only then, so a broken stream
 * has had no effect.
 */
export function withRetries(client: ApiClient, options: RetryOptions = {}): ApiClient {
  const { base_ms = BASE_MS, max_ms = MAX_MS, max_attempts = MAX_ATTEMPTS } = options;
  const { deadline_ms = DEADLINE_MS, random } = options;
  return {
    model: client.model,
    async *send(request, signal) {
      const deadline = performance.now() + deadline_ms;
      const backoff = createBackoff({ base_ms, max_ms, ...(random && { random }) });
      for (let attempt = 1; ; attempt++) {
        try {
          yield* client.send(request, signal);
          return;
        } catch (cause) {
          if (signal.aborted || !isRetryable(cause)) throw cause;
          const delay_ms = Math.round(cause.retryAfterMs ?? backoff.next());
          if (attempt >= max_attempts) throw gaveUp(cause, `after ${attempt} attempts`);
          if (performance.now() + delay_ms > deadline) throw gaveUp(cause, tooLate(delay_ms));
          yield { type: "retry", attempt, max_attempts, delay_ms, reason: described(cause) };
          await delay(delay_ms, undefined, { signal });
        }
      }
    },
  };
}

const tooLate = (delay_ms: number) =>
  `because another attempt would come too late (in ${Math.ceil(delay_ms / 1_000)} s); try again then`;

/** With the status of the provider, which says whose fault it is. */
function described({ message, failure, status }: ApiError): string {
  const kind = [status, FAILURES[failure]].filter(Boolean).join(", ");
  return kind === "" || message.includes(kind) ? message : `${message} (${kind})`;
}

/** The message itself names the others. */
const FAILURES: Readonly<Partial<Record<ApiFailure, string>>> = {
  rate_limit: "rate limit",
  overloaded: "overloaded",
  server: "server error",
};

const gaveUp = (cause: ApiError, why: string): ApiError =>
  new ApiError(cause.failure, `${described(cause)}; gave up ${why}`, {
    cause,
    ...(cause.status !== undefined && { status: cause.status }),
  });

/** Why and when a request is sent again, in words. */
export function describeRetry({ attempt, max_attempts, delay_ms, reason }: Retry): string {
  const of = max_attempts === undefined ? "" : ` of ${max_attempts}`;
  return `${reason}; attempt ${attempt + 1}${of} in ${Math.ceil(delay_ms / 1_000)} s`;
}

type Retry = Omit<Extract<Delta, { readonly type: "retry" }>, "type">;
