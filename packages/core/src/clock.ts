/** Time comes from outside: core has no clock. */
export interface Clock {
  now(): number;
  /** Resolves after the time or when the signal aborts, whichever is first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}
