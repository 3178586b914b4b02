import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Call,
  type CallOptions,
  type Envelope,
  JobId,
  type Reply,
  ToolError,
  toTraceId,
} from "@octant/core";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import type { EdgeParts } from "./call-events.ts";
import type { EdgeJobs } from "./edge-jobs.ts";
import { readField, toFacts, toJobReply, toJobsText, toJobText, toView, toWait } from "./job-answers.ts";
import type { JobQueue, QueuedJob } from "./job-queue.ts";

/** Answers calls about jobs of the queue; undefined for all others, which the workers answer. */
export type AnswerFromQueue = (call: Call, options: CallOptions) => Promise<Reply | undefined>;

const JOB_URI = /^octant:\/\/job\/([^/]+)$/;
/** A result follows the end of the local job at once. */
const RESULT_MS = 10_000;
/** The worker's own answer, which has the events, comes soon after the result. */
const RESULT_LEAD_MS = 1_000;
/** As in job.list. */
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1_000;
/** Longer than any poll. */
const MAX_POLL_MS = 120_000;

export function createAnswerFromQueue(
  parts: EdgeParts,
  queue: JobQueue,
  jobs: EdgeJobs,
  /** Calls the workers. */
  callWorker: (call: Call, options: CallOptions) => Promise<Reply>,
): AnswerFromQueue {
  const { connection, subjects, text } = parts;
  const { nc } = connection;

  /** A job of another owner does not exist here; the workers answer that it is unknown. */
  const find = async (given: unknown, { caller }: CallOptions) => {
    const { data: job_id } = JobId.safeParse(given);
    const job = job_id === undefined ? undefined : await queue.find(job_id);
    return job?.owner === caller.id ? job : undefined;
  };

  /** job.poll at the worker that has the job; undefined when there is none. */
  const pollWorker = async (job_id: string, input: object, { caller }: CallOptions): Promise<Live> => {
    const request = { request: { tool: "job", action: "poll", input }, caller, text };
    const timeout = toWait(readField(input, "wait")) + RESULT_MS;
    const message = await nc
      .request(subjects.poll(job_id), encodeMsgPack(request), { timeout })
      .catch(() => undefined);
    // Workers wrote it.
    return message ? (parseMsgPack(message.data) as Live) : {};
  };

  /** A worker that died with the question never answers; the result of another one ends the wait. */
  const orResult = async (job_id: string, polled: Promise<Live>): Promise<Live> => {
    const answered = new AbortController();
    const ended = jobs
      .wait(job_id, MAX_POLL_MS, answered.signal)
      .then(() => delay(RESULT_LEAD_MS, {}, { ref: false }));
    try {
      return await Promise.race([polled, ended]);
    } finally {
      answered.abort();
    }
  };

  const answerJob = async (call: Call, options: CallOptions, job: QueuedJob) => {
    const { action, input } = call;
    const { job_id } = job;
    if (action === "cancel") await jobs.cancel(job_id);
    const isPoll = action === "poll";
    const wants = isPoll && (!job.result || readField(input, "from_seq") !== undefined);
    const shown = isPoll ? Object(input) : { wait: 0 };
    const asks = wants || (action === "status" && !job.result);
    const live = asks ? await orResult(job_id, pollWorker(job_id, shown, options)) : {};
    const envelope = live.envelope?.ok ? live.envelope : undefined;
    const state = readField(readField(envelope?.data, "job"), "state");
    const isRunning = state === "queued" || state === "running";
    if (isPoll && !job.result && !isRunning)
      await jobs.wait(job_id, envelope ? RESULT_MS : toWait(readField(input, "wait")), options.signal);
    const now = (await queue.find(job_id)) ?? job;
    const progress = isRunning ? readField(readField(envelope?.data, "job"), "progress") : null;
    const view = { ...toView(now), progress: progress ?? null };
    const result = now.result && action !== "cancel" ? toJobReply(now.result) : undefined;
    const data = {
      ...(isPoll && { next_seq: 0, dropped: 0 }),
      ...(isPoll && (envelope?.data as object | undefined)),
      job: view,
      result: result?.envelope,
    };
    const lines = live.text?.replaceAll(live.local ?? job_id, job_id) ?? toJobText(view, result?.text);
    return answer(call, options, data, lines);
  };

  const answer = (
    { tool, action }: Call,
    { traceparent }: CallOptions,
    data: object,
    lines = "",
    cursor: string | null = null,
  ): Reply => {
    const paging = { cursor, more: cursor !== null };
    const meta = { tool, action: String(action), trace_id: toTraceId(traceparent), paging };
    const envelope: Envelope = { ok: true, data: withoutUndefined(data), error: null, meta };
    return { envelope, attachments: [], ...(text && { text: lines }) };
  };

  /** The workers check the input; the jobs are those of the queue. */
  const listJobs = async (call: Call, options: CallOptions): Promise<Reply> => {
    const { cursor, ...input } = Object(call.input) as Record<string, unknown>;
    // Without a worker the input is not checked, but the queue is still listed.
    const checked = await callWorker({ ...call, input }, options).catch(() => undefined);
    if (checked && !checked.envelope.ok) return checked;
    const before = cursor === undefined ? undefined : JobId.safeParse(cursor).data;
    if (cursor !== undefined && before === undefined)
      throw new ToolError("INVALID_CURSOR", "this cursor is not from job.list here; start without one", {});
    const { status, tool, max_age } = input;
    const limit = Math.min(Number(input["limit"] ?? DEFAULT_LIMIT) || DEFAULT_LIMIT, MAX_LIMIT);
    const since = max_age === undefined ? 0 : Date.now() - Number(max_age);
    const found = await queue.list({
      owner: options.caller.id,
      limit: limit + 1,
      before,
      matches: (job) =>
        (tool === undefined || job.tool === tool) &&
        (status === undefined || job.state === status) &&
        job.created_at >= since,
    });
    const views = found.slice(0, limit).map(toView);
    const next = found.length > views.length ? (views.at(-1)?.job_id ?? null) : null;
    return answer(call, options, { jobs: views }, toJobsText(views), next);
  };

  /** Reports progress at once, then at each change of the job, until the caller cancels. */
  const followJob = async (
    job_id: string,
    { signal = new AbortController().signal, onProgress }: CallOptions,
  ): Promise<never> => {
    let changes = 0;
    const report = () => onProgress?.({ progress: changes++ });
    const subscriptions = [subjects.event(job_id), subjects.result(job_id)].map((subject) =>
      nc.subscribe(subject, { callback: report }),
    );
    report();
    if (!signal.aborted) await once(signal, "abort");
    for (const subscription of subscriptions) subscription.unsubscribe();
    throw new ToolError("CANCELLED", "the caller cancelled the call", {});
  };

  const answerEdge = async (call: Call, options: CallOptions): Promise<Reply | undefined> => {
    const { action, input } = call;
    if (action === "jobs") {
      const { before, limit } = input as { before?: string; limit: number };
      const found = await queue.list({ owner: options.caller.id, before, limit });
      return answer(call, options, { jobs: found.map(toFacts) });
    }
    const uri = action === "subscribe" ? String(readField(input, "uri")) : "";
    const job = await find(JOB_URI.exec(uri)?.[1] ?? readField(input, "job_id"), options);
    if (!job) return undefined;
    const { job_id } = job;
    if (action === "subscribe") return followJob(job_id, options);
    if (action === "cancel") await jobs.cancel(job_id);
    const wait = Number(readField(input, "wait") ?? 0);
    if (action === "job" && !job.result && wait > 0) await jobs.wait(job_id, wait, options.signal);
    const now = (await queue.find(job_id)) ?? job;
    const result = now.result && toJobReply(now.result);
    const data = { job: toFacts(now), result: result?.envelope, text: result?.text };
    return answer(call, options, data);
  };

  return async (call, options) => {
    if (call.tool === "edge") return answerEdge(call, options);
    if (call.tool !== "job") return undefined;
    if (call.action === "list") return listJobs(call, options);
    const job = await find(readField(call.input, "job_id"), options);
    return job && answerJob(call, options, job);
  };
}

/** The answer of the worker that has the job, under its own id. */
interface Live {
  readonly local?: string;
  readonly envelope?: Envelope;
  readonly text?: string;
}

const withoutUndefined = (data: object): object =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
