import { DEFAULT_HTTP_LIMITS } from "@octant/http";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const MIB = 1024 * 1024;

/** Those of the listener, and those of the sessions and calls on it. */
export const DEFAULT_LIMITS = {
  ...DEFAULT_HTTP_LIMITS,
  /** Per token, without a session. */
  maxCallsInFlight: 4_096,
  maxSessions: 4_096,
  /** A session that nobody uses or listens to ends. */
  idleSessionMs: 30 * MINUTE_MS,
  /** A connection without a first message ends. */
  firstMessageMs: 30 * SECOND_MS,
  /** An answer that takes longer comes as a stream, so that proxies see that the connection is alive. */
  streamAfterMs: 5 * SECOND_MS,
  /** A stream that can be resumed ends here, before a proxy cuts it. */
  maxStreamMs: 10 * MINUTE_MS,
  /** What a client can catch up with after its connection broke. */
  maxKeptBytes: 4 * MIB,
} as const;

export type Limits = { readonly [Name in keyof typeof DEFAULT_LIMITS]: number };
