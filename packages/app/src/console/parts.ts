import type { Redact } from "@octant/runtime";
import type { Octant } from "../octant-api.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { SessionDesk } from "./session-desk.ts";

/** The parts of a process that the person's tool works with. */
export interface ConsoleParts {
  readonly octant: Octant;
  readonly version: string;
  /** With the API keys of the providers. */
  readonly env: NodeJS.ProcessEnv;
  readonly calls: CallRecorder;
  /** Removes secrets, as from the audit log. */
  readonly redact: Redact;
  readonly desk: SessionDesk;
  /** A new one-time link to the console of this process; undefined when it serves none. */
  link(): string | undefined;
}
