/** Why the bridge closes a connection; docs/bridge.md says what a client should do. */
export const CLOSE = {
  GOING_AWAY: 1001,
  BINARY: 1003,
  /** The token expired; reconnect with a new one. */
  EXPIRED: 4401,
  /** The stream is open on another connection. */
  TAKEN_OVER: 4409,
  /** The stream is unknown, or frames after the given one are no longer available. */
  GONE: 4410,
  /** The client read too slowly, or stopped answering pings. */
  TOO_SLOW: 4413,
} as const;
