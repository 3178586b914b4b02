import type { Envelope, JobState } from "@octant/core";

/** The state of a job by its result; without one it waits or runs. */
export function toState(result: Envelope | undefined): JobState {
  if (!result) return "running";
  if (result.ok) return "complete";
  return result.error.code === "CANCELLED" ? "cancelled" : "failed";
}
