/**
 * Why a request to a model failed.
 * `rate_limit`, `overloaded`, `server`, `broken` (the stream ended too early or was invalid), `stalled` and
 * `unreachable` are transient; the others are not.
 */
const API_FAILURES = {
  rate_limit: { retry: true },
  overloaded: { retry: true },
  server: { retry: true },
  broken: { retry: true },
  stalled: { retry: true },
  unreachable: { retry: true },
  context_length: { retry: false },
  auth: { retry: false },
  quota: { retry: false },
  not_found: { retry: false },
  invalid: { retry: false },
} as const;

export type ApiFailure = keyof typeof API_FAILURES;

export interface ApiErrorOptions extends ErrorOptions {
  readonly status?: number;
  /** The delay that the provider asked for. */
  readonly retryAfterMs?: number;
}

/** Its message contains neither a key nor a header. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly failure: ApiFailure;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(failure: ApiFailure, message: string, options: ApiErrorOptions = {}) {
    super(message, options);
    this.failure = failure;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

export const isRetryable = (cause: unknown): cause is ApiError =>
  cause instanceof ApiError && API_FAILURES[cause.failure].retry;
