import type { Readable, Writable } from "node:stream";

/** The largest message that a server may send; a larger one closes the connection. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** A server's process, started by the caller under its own rules. */
export interface StartedProgram {
  readonly input: Writable;
  readonly output: Readable;
  /** Resolves with how it ended. */
  readonly exited: Promise<string>;
  /** The end of its stderr output. */
  complaints(): string;
  /** Ends it and all its child processes. */
  end(): Promise<void>;
}
