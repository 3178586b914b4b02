export interface BackoffOptions {
  readonly base_ms: number;
  readonly max_ms: number;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random?: () => number;
}

export interface Backoff {
  /** The next delay in milliseconds. */
  next(): number;
  reset(): void;
}

/** The longest delay of attempt `attempt` (from 0): doubled each time, at most `max_ms`. */
export function backoffCap(
  attempt: number,
  { base_ms, max_ms }: Pick<BackoffOptions, "base_ms" | "max_ms">,
): number {
  // 2 ** 1024 is Infinity, which Math.min handles; higher attempts cannot overflow.
  return Math.min(max_ms, base_ms * 2 ** Math.min(attempt, 1_023));
}

/** Full jitter: equal delays would make every client retry at once. */
export function createBackoff(options: BackoffOptions): Backoff {
  const { random = Math.random } = options;
  let attempt = 0;
  return {
    next: () => random() * backoffCap(attempt++, options),
    reset() {
      attempt = 0;
    },
  };
}

/** The delay that a provider asks for, in a header or in its error message; undefined when there is none. */
export function retryAfterMs(headers: Headers, text: string, now: number): number | undefined {
  const millis = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(millis) && millis >= 0) return millis;
  const after = headers.get("retry-after");
  if (after !== null) {
    const seconds = Number(after);
    if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1_000;
    const date = Date.parse(after);
    if (Number.isFinite(date)) return Math.max(0, date - now);
  }
  const [, amount, unit = ""] = IN_WORDS.exec(text) ?? [];
  if (amount === undefined) return undefined;
  return Number(amount) * (unit.toLowerCase() === "ms" ? 1 : 1_000);
}

const IN_WORDS = /(?:try again|retry) (?:in|after)\s*(\d+(?:\.\d+)?)\s*(ms|s\b|sec)/i;
