export { JOB_STATES, type Job, type JobState } from "./job.ts";
export { createJobEvents, type JobEvent } from "./job-events.ts";
export type { JobFilter, JobStore } from "./job-store.ts";
export { createJobs, type Jobs } from "./jobs.ts";
export { PATIENCE_MS } from "./patience.ts";
export type { JobAnswer, JobRequest, RunningJob } from "./request.ts";
