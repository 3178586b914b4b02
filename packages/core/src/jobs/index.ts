export { type JobEventView, toEventView } from "./event-view.ts";
export { JOB_STATES, type Job, type JobState } from "./job.ts";
export { createJobEvents, type JobEvent } from "./job-events.ts";
export type { JobFilter, JobStore, JobWrite } from "./job-store.ts";
export { createJobs, type Jobs } from "./jobs.ts";
export { PATIENCE_MS } from "./patience.ts";
export type { JobAnswer, JobRequest, JobWork, RunningJob } from "./request.ts";
export { createWorker, type Worker } from "./worker.ts";
