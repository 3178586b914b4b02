import type { Tone } from "../../parts/badge.tsx";

/** The colours of the states of jobs and commands. */
export const STATE_TONES: Readonly<Record<string, Tone>> = {
  queued: "plain",
  running: "accent",
  complete: "good",
  exited: "good",
  failed: "bad",
  killed: "warn",
  timed_out: "bad",
  cancelled: "warn",
};
