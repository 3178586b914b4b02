import type { Envelope, JobState } from "@octant/core";

/** The state of a job by its result; without one it runs, or waits until a worker takes it. */
export function toState(result: Envelope | undefined, isTaken = true): JobState {
  if (!result) return isTaken ? "running" : "queued";
  if (result.ok) return "complete";
  return result.error.code === "CANCELLED" ? "cancelled" : "failed";
}
