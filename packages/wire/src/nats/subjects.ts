/** The prefix of all Octant subjects on a NATS server, for use in permissions. */
const PREFIX = "octant";

export const JOBS_STREAM = "OCTANT_JOBS";
export const RESULTS_STREAM = "OCTANT_RESULTS";
export const BEGUN_STREAM = "OCTANT_BEGUN";
export const BODIES_BUCKET = "OCTANT_BODIES";
/** Data that has to outlive the hubs; nothing in it expires. */
export const KEPT_BUCKET = "OCTANT_KEPT";

export const PLACES_STREAM = "OCTANT_PLACES";

export const DISCOVER = `${PREFIX}.discover`;

/** A bucket of JetStream's key-value store. */
const LEASES_BUCKET = "OCTANT_LEASES";
export const LEASES_STREAM = `KV_${LEASES_BUCKET}`;
export const LEASE_SUBJECTS = `$KV.${LEASES_BUCKET}.>`;

/** The subjects of one project. A dot in a project's id would separate tokens in a subject. */
export function subjectsOf(project: string) {
  const token = project.replaceAll(/[^A-Za-z0-9_-]/g, (sign) => `=${Buffer.from(sign).toString("hex")}`);
  return {
    token,
    /** The lease of the worker that has the project. */
    lease: `$KV.${LEASES_BUCKET}.${token}`,
    call: (worker_id: string) => `${PREFIX}.call.${token}.${worker_id}`,
    ready: (worker_id: string) => `${PREFIX}.ready.${token}.${worker_id}`,
    started: `${PREFIX}.started.${token}`,
    job: (job_id: string) => `${PREFIX}.job.${token}.${job_id}`,
    allJobs: `${PREFIX}.job.${token}.*`,
    result: (job_id: string) => `${PREFIX}.result.${token}.${job_id}`,
    /** Written before a job runs. */
    begun: (job_id: string) => `${PREFIX}.begun.${token}.${job_id}`,
    cancel: (id: string) => `${PREFIX}.cancel.${token}.${id}`,
    allCancels: `${PREFIX}.cancel.${token}.*`,
    /** Where the edge behind a job or call is asked for its person. */
    ask: (id: string) => `${PREFIX}.ask.${token}.${id}`,
    /** Where the worker that runs a job, or ran it lately, shows its events. */
    poll: (job_id: string) => `${PREFIX}.poll.${token}.${job_id}`,
    event: (job_id: string) => `${PREFIX}.event.${token}.${job_id}`,
    /** The consumer of the project's jobs. */
    queue: `workers-${token}`,
  };
}

/** Where a place is asked for; `key` and `label` have no dots. */
export const wantedSubject = (label: string, key: string) => `${PREFIX}.wanted.${label}.${key}`;
/** Where a hub asks the others to give up places that nobody uses. */
export const roomSubject = (label: string) => `${PREFIX}.room.${label}`;
/** The lease of the host that has the place. */
export const placeLeaseSubject = (key: string) => `$KV.${LEASES_BUCKET}.place.${key}`;

/** The subjects of a place while one host has it: another host has another lease, and so other subjects. */
export const placeSubjects = (lease_id: string) => ({
  request: `${PREFIX}.place.${lease_id}.request`,
  answer: `${PREFIX}.place.${lease_id}.answer`,
  bytes: (id: string, name: string) => `${PREFIX}.place.${lease_id}.${id}.${name}`,
});

export type Subjects = ReturnType<typeof subjectsOf>;

export const JOB_SUBJECTS = `${PREFIX}.job.*.*`;
export const RESULT_SUBJECTS = `${PREFIX}.result.*.*`;
export const BEGUN_SUBJECTS = `${PREFIX}.begun.*.*`;
export const WANTED_SUBJECTS = `${PREFIX}.wanted.*.*`;
