const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const MIB = 1024 * 1024;

/** What keeps one client, or many, from taking all there is. */
export const DEFAULT_LIMITS = {
  maxConnections: 4_096,
  maxConnectionsPerAddress: 2_048,
  /** Of one token. */
  requestsPerSecond: 20_000,
  /** Of one address, with tokens that are no good; beyond it even the refusal is shorter. */
  refusalsPerSecond: 1_000,
  /** Of one token, without a session. */
  maxCallsInFlight: 4_096,
  maxSessions: 4_096,
  maxBodyBytes: 64 * MIB,
  headersMs: 10 * SECOND_MS,
  bodyMs: 30 * SECOND_MS,
  /** A session that nobody used, and nobody listens to, ends. */
  idleSessionMs: 30 * MINUTE_MS,
  /** A connection that was opened and never spoken on ends. */
  firstMessageMs: 30 * SECOND_MS,
  keepAliveMs: 15 * SECOND_MS,
  /** An answer that takes longer comes as a stream, so that the connection is seen to live. */
  streamAfterMs: 5 * SECOND_MS,
  /** A stream that can be resumed is cut here, as proxies would cut it less politely. */
  maxStreamMs: 10 * MINUTE_MS,
  /** What a client can catch up with after its connection broke. */
  maxKeptBytes: 4 * MIB,
  /** How long calls may go on after `close`. */
  drainMs: 5 * SECOND_MS,
} as const;

export type Limits = { readonly [Name in keyof typeof DEFAULT_LIMITS]: number };
