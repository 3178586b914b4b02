import type { StoredMsg } from "@nats-io/jetstream";
import type { ObjectStore } from "@nats-io/obj";
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { type Envelope, type Job, type JobState, toEndState } from "@octant/core";
import { encodeBody, HEADERS, parseBody } from "./bodies.ts";
import { codeOf, type NatsConnection, NO_MESSAGE, RESULT_TTL_MS, WRONG_LAST_SEQUENCE } from "./connection.ts";
import { BEGUN_STREAM, JOBS_STREAM, RESULTS_STREAM, type Subjects } from "./subjects.ts";

/** The envelope and, if the job requested it, its text for a model. */
export type JobResult = Envelope & { readonly text?: string };

/**
 * A job of the queue in JetStream: queued while it is in the work queue, running once a worker has begun it, then its
 * result. One whose worker died runs until another ends it, as a job of a dead process does in the local store.
 */
export interface QueuedJob
  extends Pick<Job, "job_id" | "tool" | "action" | "state" | "created_at" | "updated_at" | "expires_at"> {
  readonly owner: string;
  readonly result?: JobResult;
}

type JobLabel = Pick<QueuedJob, "owner" | "tool" | "action">;

interface QueueFilter {
  readonly owner: string;
  readonly limit: number;
  /** Only jobs that are older than this one. */
  readonly before?: string | undefined;
  readonly matches?: (job: QueuedJob) => boolean;
}

const LIST_CONCURRENCY = 16;

const MAX_MESSAGES_PER_SUBJECT = 10077;

export type JobQueue = ReturnType<typeof createJobQueue>;

export function createJobQueue({ js, jsm, bodies }: NatsConnection, subjects: Subjects) {
  const last = async (stream: string, subject: string): Promise<StoredMsg | undefined> => {
    try {
      return (await jsm.streams.getMessage(stream, { last_by_subj: subject })) ?? undefined;
    } catch (cause) {
      if (codeOf(cause) === NO_MESSAGE) return undefined;
      throw cause;
    }
  };
  const findEnded = async (job_id: string): Promise<QueuedJob | undefined> => {
    const ended = await last(RESULTS_STREAM, subjects.result(job_id));
    if (!ended) return undefined;
    const result = await parseResult({ data: ended.data, headers: ended.header }, bodies);
    return { ...toJob(job_id, ended, toEndState(result)), result };
  };
  const find = async (job_id: string): Promise<QueuedJob | undefined> => {
    const ended = await findEnded(job_id);
    if (ended) return ended;
    const waiting = await last(JOBS_STREAM, subjects.job(job_id));
    // A job that has ended meanwhile is no longer in the queue.
    if (!waiting) return findEnded(job_id);
    return toJob(job_id, waiting, (await last(BEGUN_STREAM, subjects.begun(job_id))) ? "running" : "queued");
  };
  const idsOf = async (stream: string, subject: string): Promise<string[]> => {
    const { state } = await jsm.streams.info(stream, { subjects_filter: subject });
    return Object.keys(state.subjects ?? {}).map((name) => name.slice(name.lastIndexOf(".") + 1));
  };
  return {
    find,
    /** Newest first, as long as JetStream retains them. */
    async list({ owner, limit, before, matches = () => true }: QueueFilter): Promise<QueuedJob[]> {
      const ids = await Promise.all([
        idsOf(JOBS_STREAM, subjects.allJobs),
        idsOf(RESULTS_STREAM, subjects.result("*")),
      ]);
      // Ids sort by the time at which they were made.
      const newest = [...new Set(ids.flat())].sort().reverse();
      const older = before === undefined ? newest : newest.filter((id) => id < before);
      const found: QueuedJob[] = [];
      for (let at = 0; at < older.length && found.length < limit; at += LIST_CONCURRENCY) {
        const jobs = await Promise.all(older.slice(at, at + LIST_CONCURRENCY).map(find));
        for (const job of jobs) if (job?.owner === owner && matches(job)) found.push(job);
      }
      return found.slice(0, limit);
    },
    /** Durable when the promise resolves. The same id is the same job. */
    async add(job_id: string, request: object, job: JobLabel, given: MsgHdrs): Promise<void> {
      const { data } = await encodeBody(request, bodies, withJob(given, job));
      await js.publish(subjects.job(job_id), data, { headers: given, msgID: job_id });
    },
    /** Records that a worker begins the job; false when one has done so before. */
    begin: (job_id: string) => isFirst(js.publish(subjects.begun(job_id), "", FIRST)),
    /** False when the job already has a result: the first stored one counts, even if another worker ran it too. */
    async finish(job_id: string, job: JobLabel, result: JobResult): Promise<boolean> {
      const given = withJob(headers(), job);
      const { data } = await encodeBody(result, bodies, given);
      return isFirst(js.publish(subjects.result(job_id), data, { headers: given, ...FIRST }));
    },
  };
}

/** For a subject that has at most one message. */
const FIRST = { expect: { lastSubjectSequence: 0 } } as const;

/** False when the subject had a message already. */
async function isFirst(published: Promise<unknown>): Promise<boolean> {
  try {
    await published;
    return true;
  } catch (cause) {
    if ([WRONG_LAST_SEQUENCE, MAX_MESSAGES_PER_SUBJECT].includes(codeOf(cause))) return false;
    throw cause;
  }
}

function withJob(given: MsgHdrs, { owner, tool, action }: JobLabel): MsgHdrs {
  given.set(HEADERS.owner, encodeURIComponent(owner));
  given.set(HEADERS.action, encodeURIComponent(`${tool}.${action}`));
  return given;
}

/** The time at which a job's id was made. */
const HANDLE_TIME = /^job_([0-9a-z]{10})/;

function toJob(
  job_id: string,
  { header, time }: Pick<StoredMsg, "header" | "time">,
  state: JobState,
): QueuedJob {
  const [tool = "", action = ""] = decodeURIComponent(header.get(HEADERS.action)).split(".");
  const owner = decodeURIComponent(header.get(HEADERS.owner));
  const created_at = Number.parseInt(HANDLE_TIME.exec(job_id)?.[1] ?? "0", 36);
  const updated_at = time.getTime();
  const expires_at = updated_at + RESULT_TTL_MS;
  return { job_id, owner, tool, action, state, created_at, updated_at, expires_at };
}

/** Parses what `finish` wrote. */
export const parseResult = async (
  message: Parameters<typeof parseBody>[0],
  bodies: ObjectStore,
): Promise<JobResult> => (await parseBody(message, bodies, { once: false })) as JobResult;
