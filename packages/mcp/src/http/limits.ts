import { DEFAULT_HTTP_LIMITS } from "@octant/http";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const MIB = 1024 * 1024;

/** Limits of the listener, its sessions and its calls. */
export const DEFAULT_LIMITS = {
  ...DEFAULT_HTTP_LIMITS,
  /** Per token, outside of sessions. */
  maxCallsInFlight: 4_096,
  maxSessions: 4_096,
  /** A session without requests or listeners ends. */
  idleSessionMs: 30 * MINUTE_MS,
  /** A connection without a first message ends. */
  firstMessageMs: 30 * SECOND_MS,
  /** A slower answer comes as a stream, so that proxies see that the connection is alive. */
  streamAfterMs: 5 * SECOND_MS,
  /** A resumable stream ends here, before a proxy cuts it. */
  maxStreamMs: 10 * MINUTE_MS,
  /** The events that a client can catch up on after a broken connection. */
  maxEventLogBytes: 4 * MIB,
} as const;

export type Limits = { readonly [Name in keyof typeof DEFAULT_LIMITS]: number };
