import type { Readable, Writable } from "node:stream";

/** The largest message that a server may send; beyond it the connection is cut. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** A server's process as the caller started it, under its own rules. */
export interface StartedProgram {
  readonly input: Writable;
  readonly output: Readable;
  /** Resolves with how it ended. */
  readonly exited: Promise<string>;
  /** The last of what it wrote to stderr. */
  complaints(): string;
  /** Ends it and all that it started. */
  end(): Promise<void>;
}
