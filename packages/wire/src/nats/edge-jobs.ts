import { setTimeout as delay } from "node:timers/promises";
import type { Msg } from "@nats-io/transport-node";
import {
  type Call,
  type CallOptions,
  newHandle,
  PATIENCE_MS,
  type Reply,
  type Timing,
  ToolError,
  toFailure,
  toTraceId,
} from "@octant/core";
import { parseBody } from "./bodies.ts";
import { type CallEvents, type EdgeParts, followCall, toHeaders } from "./call-events.ts";
import { readField, toJobReply, toStarted } from "./job-answers.ts";
import { type JobQueue, type JobResult, parseResult } from "./job-queue.ts";

const POLL_MS = 1_000;
const LONGEST_MS = 24 * 60 * 60 * 1_000;

type Asked = Pick<CallOptions, "caller" | "traceparent">;

/** The jobs that an edge puts into the queue, and the waits for them. */
export type EdgeJobs = ReturnType<typeof createEdgeJobs>;

export function createEdgeJobs(parts: EdgeParts, queue: JobQueue) {
  const { connection, subjects, holders, admissionMs } = parts;
  const { nc, bodies } = connection;

  const add = (job_id: string, request: object, { tool, action }: Call, { caller, traceparent }: Asked) =>
    queue.add(job_id, request, { owner: caller.id, tool, action: String(action) }, toHeaders(traceparent));

  /**
   * The result, if it comes in time. A message about it is only a hint to look; a look now and then makes up for lost
   * ones.
   */
  const wait = async (job_id: string, ms: number, signal?: AbortSignal): Promise<JobResult | undefined> => {
    const found = Promise.withResolvers<JobResult | undefined>();
    const take = (message: Msg) => void parseResult(message, bodies).then(found.resolve, found.reject);
    const subscription = nc.subscribe(subjects.result(job_id), { callback: (_, message) => take(message) });
    const look = () =>
      void queue.find(job_id).then(
        (job) => job?.result && found.resolve(job.result),
        () => {},
      );
    const looking = setInterval(look, POLL_MS);
    const stop = () => found.resolve(undefined);
    const timer = setTimeout(stop, Math.max(ms, 1));
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const stored = await queue.find(job_id);
      return stored?.result ?? (await found.promise);
    } finally {
      subscription.unsubscribe();
      clearInterval(looking);
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
  };

  /** A job that no worker has taken yet ends here: its first result is its only one. */
  const cancel = async (job_id: string): Promise<void> => {
    const job = await queue.find(job_id);
    if (!job || job.result) return;
    nc.publish(subjects.cancel(job_id), "");
    const failure = new ToolError("CANCELLED", "the job was cancelled", {});
    await queue.finish(job_id, job, toFailure(job, toTraceId(undefined), failure));
  };

  /** Resolves when no worker takes the job in time, because there is none or the caller wants no more than the job. */
  const neglect = async (
    accepted: Promise<void>,
    isPatient: boolean,
    following: CallEvents,
  ): Promise<undefined> => {
    const inTime = accepted.then(() => true);
    do
      if (await Promise.race([inTime, delay(admissionMs, false, { ref: false })]))
        return new Promise<never>(() => {});
    while (following.questions > 0 || (isPatient && (await holders.current())));
    return undefined;
  };

  return {
    /** Stores a job for the workers of the project; durable when the promise resolves. */
    async enqueue(request: object, call: Call, options: Asked): Promise<string> {
      const job_id = newHandle("job", Date.now());
      await add(job_id, request, call, options);
      return job_id;
    },
    /** Waits as long as a caller in the same process would, then answers with the job's id. */
    async run(
      request: object,
      call: Call,
      options: CallOptions,
      timing: Exclude<Timing, "sync">,
    ): Promise<Reply> {
      const { timingHint: hint, signal } = options;
      const patience = PATIENCE_MS[hint === undefined || hint === "sync" ? timing : hint];
      const job_id = newHandle("job", Date.now());
      const accepted = Promise.withResolvers<void>();
      let isAccepted = false;
      const accept = () => {
        isAccepted = true;
        accepted.resolve();
      };
      const interim = Promise.withResolvers<Reply>();
      const following = followCall(parts, job_id, options, (event, message) => {
        if (readField(event, "state") === "running") accept();
        void readInterim(event, message, parts, job_id).then((reply) => reply && interim.resolve(reply));
      });
      // Until the caller knows the job's id, its abort ends the work.
      const leave = () => void cancel(job_id);
      signal?.addEventListener("abort", leave, { once: true });
      const done = new AbortController();
      try {
        await add(job_id, request, call, options);
        if (signal?.aborted) leave();
        const started = () => ({
          envelope: toStarted(call, job_id, options, isAccepted),
          attachments: [],
        });
        const result = (ms: number) =>
          wait(job_id, ms, done.signal).then((found) => found && toJobReply(found));
        const isPatient = patience > PATIENCE_MS.async_long;
        const neglected = neglect(accepted.promise, isPatient, following);
        if (isPatient)
          return (await Promise.race([result(patience), interim.promise, neglected])) ?? started();
        const early = await Promise.race([result(LONGEST_MS), accepted.promise, neglected]);
        const reply = early ?? (isAccepted ? await Promise.race([result(patience), interim.promise]) : early);
        // The caller wants the job, unless it failed at once.
        return reply && (!reply.envelope.ok || reply.envelope.meta.job_id) ? reply : started();
      } finally {
        done.abort();
        // Ends the wait for a worker: a call that is answered at once, such as with a refusal, begins no job there.
        accepted.resolve();
        signal?.removeEventListener("abort", leave);
        // A job may ask the person until it has ended, also after its call was answered.
        if (options.ask) void wait(job_id, LONGEST_MS).then(following.stop, following.stop);
        else following.stop();
      }
    },
    wait,
    cancel,
  };
}

/** The interim answer of an action that continues, under the id that the caller knows. */
async function readInterim(
  event: unknown,
  message: Msg,
  { connection: { bodies } }: EdgeParts,
  job_id: string,
): Promise<Reply | undefined> {
  const whole = event ?? (await parseBody(message, bodies, { once: true }).catch(() => undefined));
  // Workers wrote it.
  const found = readField(whole, "interim") as JobResult | undefined;
  const local = found?.meta.job_id;
  if (!found || local === undefined || readField(found.data, "job_id") === local) return undefined;
  const { envelope, attachments, text } = toJobReply(found);
  return {
    envelope: { ...envelope, meta: { ...envelope.meta, job_id } },
    attachments,
    ...(text !== undefined && { text: text.replaceAll(local, job_id) }),
  };
}
