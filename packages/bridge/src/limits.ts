const SECOND_MS = 1_000;
const MIB = 1024 * 1024;

/** Prevent one owner from exhausting the bridge for the others. */
export const DEFAULT_BRIDGE_LIMITS = {
  /** Streams of one owner, connected or waiting for a reconnect. */
  maxStreamsPerOwner: 50,
  maxStreams: 2_000,
  /** Beyond this rate reading pauses. */
  framesPerSecond: 200,
  maxFrameBytes: 4 * MIB,
  /** Frames stored for a client that reconnects. */
  maxLogFrames: 2_000,
  maxKeptChars: 4 * MIB,
  /** Unread bytes to a client above which we stop reading from it. */
  highWaterBytes: MIB,
  /** A client with more unread bytes is disconnected. */
  maxWaitingBytes: 16 * MIB,
  /** How long a stream waits for its client to reconnect. */
  reconnectMs: 60 * SECOND_MS,
  pingMs: 30 * SECOND_MS,
} as const;

export type BridgeLimits = { readonly [Name in keyof typeof DEFAULT_BRIDGE_LIMITS]: number };
