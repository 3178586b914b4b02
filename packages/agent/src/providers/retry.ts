import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../api-client.ts";
import { ApiError, isRetryable } from "../api-error.ts";
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
          yield { type: "retry", attempt, delay_ms, reason: cause.message };
          await delay(delay_ms, undefined, { signal });
        }
      }
    },
  };
}

const tooLate = (delay_ms: number) =>
  `because another attempt would come too late (in ${Math.ceil(delay_ms / 1_000)} s); try again then`;

const gaveUp = (cause: ApiError, why: string): ApiError =>
  new ApiError(cause.failure, `${cause.message}; gave up ${why}`, {
    cause,
    ...(cause.status !== undefined && { status: cause.status }),
  });
