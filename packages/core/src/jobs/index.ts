export { type JobEventView, toEventView } from "./event-view.ts";
export { JOB_STATES, type Job, type JobCall, type JobState } from "./job.ts";
export { createJobEvents, type JobEvent } from "./job-events.ts";
export type { JobClaim, JobFilter, JobStore, JobWrite } from "./job-store.ts";
export { createJobs, type Jobs, MAX_RUNNING_JOBS } from "./jobs.ts";
export { PATIENCE_MS } from "./patience.ts";
export type { JobAnswer, JobRequest, JobWork, RunningJob } from "./request.ts";
export { createWorker, type Worker, type WorkerOptions } from "./worker.ts";
