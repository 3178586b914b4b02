const SECOND_MS = 1_000;
const MIB = 1024 * 1024;

/** Prevent clients from exhausting the server. */
export const DEFAULT_HTTP_LIMITS = {
  maxConnections: 4_096,
  maxConnectionsPerAddress: 2_048,
  /** Per token. */
  requestsPerSecond: 20_000,
  /** Per address, with invalid tokens; beyond it even the refusal is shorter. */
  refusalsPerSecond: 1_000,
  maxBodyBytes: 64 * MIB,
  headersMs: 10 * SECOND_MS,
  bodyMs: 30 * SECOND_MS,
  keepAliveMs: 15 * SECOND_MS,
  /** How long calls may continue after `close`. */
  drainMs: 5 * SECOND_MS,
} as const;

export type HttpLimits = { readonly [Name in keyof typeof DEFAULT_HTTP_LIMITS]: number };
