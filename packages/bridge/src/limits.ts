const SECOND_MS = 1_000;
const MIB = 1024 * 1024;

/** Keep one owner from exhausting the bridge for the others. */
export const DEFAULT_BRIDGE_LIMITS = {
  /** Streams of one owner, connected or waiting for their client to come back. */
  maxStreamsPerOwner: 50,
  maxStreams: 2_000,
  /** Beyond it, reading waits. */
  framesPerSecond: 200,
  maxFrameBytes: 4 * MIB,
  /** Frames kept for a client that reconnects. */
  maxKeptFrames: 2_000,
  maxKeptChars: 4 * MIB,
  /** What may wait to be read by a client before we read no more from it. */
  highWaterBytes: MIB,
  /** A client that lets this much wait is cut off. */
  maxWaitingBytes: 16 * MIB,
  /** How long a stream waits for its client to come back. */
  reconnectMs: 60 * SECOND_MS,
  pingMs: 30 * SECOND_MS,
} as const;

export type BridgeLimits = { readonly [Name in keyof typeof DEFAULT_BRIDGE_LIMITS]: number };
