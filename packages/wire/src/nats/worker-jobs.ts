import type { JsMsg } from "@nats-io/jetstream";
import { headers, type Msg, type Subscription } from "@nats-io/transport-node";
import { type Envelope, ToolError, toEndState, toFailure, toTraceId } from "@octant/core";
import { narrowCaller, parseRequest, type RequestEnvelope } from "../envelopes.ts";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import { dispatchRequest, followJob, toListeners, toText } from "../run-request.ts";
import { encodeBody, HEADERS, parseBody } from "./bodies.ts";
import { createJobQueue, type JobResult, type QueuedJob } from "./job-queue.ts";
import { askEdge, emit, toToolError, type WorkerParts, WorkerStops } from "./worker-calls.ts";

/** A worker without a heartbeat for this long loses its jobs to others. */
export const ACK_WAIT_MS = 10_000;
export const MAX_JOBS_AT_ONCE = 8;
/** A job whose workers died this often fails with INTERRUPTED instead of crashing another. */
const MAX_DELIVERIES = 3;
const WAIT_MS = 60_000;
/** How long a job waits that failed outside the dispatcher, such as with the NATS server away. */
const RETRY_MS = 1_000;

/** Runs jobs of the queue. */
export function createJobRunner(parts: WorkerParts) {
  const { options, connection, subjects, running } = parts;
  const queue = createJobQueue(connection, subjects);
  const polls = createLocalPolls(parts);
  const work = new Set<Promise<void>>();

  /** Acknowledged only when the result is stored; until then another worker may get the job. */
  const runJob = async (message: JsMsg): Promise<void> => {
    if (!parts.isHeld()) return message.nak();
    const job_id = message.subject.slice(message.subject.lastIndexOf(".") + 1);
    const alive = setInterval(() => message.working(), ACK_WAIT_MS / 3);
    const controller = new AbortController();
    running.set(job_id, controller);
    try {
      const found = await queue.find(job_id);
      if (found && !found.result) {
        const isFirst = await queue.begin(job_id);
        const outcome =
          isFirst || isRepeatable(found)
            ? outcomeOf(message, job_id, found, controller.signal)
            : Promise.reject(interrupted(job_id));
        const result = await outcome.catch((cause: unknown) => {
          const failure = cause instanceof WorkerStops && !isRepeatable(found) ? interrupted(job_id) : cause;
          // An unreadable job stays unreadable: returned to the queue, it would come again at once, for ever.
          if (failure instanceof ToolError) return toFailure(found, toTraceId(undefined), failure);
          throw failure;
        });
        if (await queue.finish(job_id, found, result))
          emit(parts, job_id, { event: "job_state", state: toEndState(result) });
      }
      await message.ackAck();
    } catch (cause) {
      if (cause instanceof WorkerStops) return message.nak();
      message.nak(RETRY_MS);
      throw cause;
    } finally {
      clearInterval(alive);
      running.delete(job_id);
    }
  };

  /** Only a job that reads may run again after its worker has died in the middle. */
  const isRepeatable = ({ tool, action }: QueuedJob): boolean =>
    options.registry.get(tool)?.actions[action]?.access === "read";

  const outcomeOf = async (
    message: JsMsg,
    job_id: string,
    job: QueuedJob,
    signal: AbortSignal,
  ): Promise<JobResult> => {
    const traceparent = message.headers?.get(HEADERS.traceparent) ?? "";
    const body = { data: message.data, headers: message.headers };
    const request = parseRequest(await parseBody(body, connection.bodies, { once: false }));
    const deliveries = message.info.deliveryCount;
    if (deliveries > MAX_DELIVERIES) {
      const text = `the worker died ${MAX_DELIVERIES} times while ${job_id} was running; start it again`;
      return toFailure(job, toTraceId(traceparent), new ToolError("INTERRUPTED", text, {}));
    }
    const owner = narrowCaller(options.caller, request).id;
    const following = new AbortController();
    let chunks = 0;
    const onChunk = (chunk: object) => emit(parts, job_id, { event: "stream_chunk", seq: chunks++, chunk });
    let listeners = toListeners({ stream: "live" }, onChunk);
    const onJob = (local: string) => {
      // From here on the job's own events have it all.
      listeners = {};
      polls.add(job_id, local, request);
      emit(parts, job_id, { event: "job_state", state: "running" });
      const { events } = options.jobs;
      // Its end is awaited below; this passes on what it emits.
      followJob(options.jobs, owner, local, events.nextSeq, onChunk, following.signal).catch(() => {});
    };
    try {
      // The hint is for the wait of the edge; here it would only make the worker wait in another way.
      const { envelope } = await dispatchRequest(
        options,
        { ...request, timing_hint: null },
        {
          traceparent,
          signal,
          onJob,
          onProgress: (progress) => listeners.onProgress?.(progress),
          onStream: (chunk) => listeners.onStream?.(chunk),
          // Each delivery is a new job: one that died with its worker would answer for the next.
          key: `${job_id}.${deliveries}`,
          ...(request.asks && { ask: askEdge(parts, job_id) }),
        },
      );
      if (envelope.meta.job_id !== undefined) await tellInterim(job_id, request, envelope);
      const outcome = await endOf(envelope, owner, signal);
      if (signal.aborted && signal.reason instanceof WorkerStops) throw signal.reason;
      emit(parts, job_id, { event: "stream_end", chunks });
      return request.text ? { ...outcome, text: toText(options, outcome) } : outcome;
    } finally {
      following.abort();
    }
  };

  /** The interim answer that a caller in this process would have received. */
  const tellInterim = async (job_id: string, request: RequestEnvelope, envelope: Envelope) => {
    const text = request.text ? { text: toText(options, envelope) } : {};
    const event = { at: Date.now(), job_id, event: "interim", interim: { ...envelope, ...text } };
    const given = headers();
    const { data } = await encodeBody(event, connection.bodies, given);
    connection.nc.publish(subjects.event(job_id), data, { headers: given });
  };

  /** Waits for work that continues as a local job: it is durable in this workspace before its result is stored. */
  const endOf = async (envelope: Envelope, owner: string, signal: AbortSignal): Promise<Envelope> => {
    const { jobs } = options;
    const { job_id } = envelope.meta;
    if (job_id === undefined) return envelope;
    for (;;) {
      await jobs.ended(owner, job_id, WAIT_MS, signal);
      if (signal.aborted) await jobs.cancel(owner, job_id);
      const result = await jobs.result(owner, job_id);
      if (result) return result;
      signal.throwIfAborted();
    }
  };

  return {
    /** Runs jobs until the messages end. */
    async consume(messages: AsyncIterable<JsMsg>): Promise<void> {
      for await (const message of messages) {
        if (work.size >= MAX_JOBS_AT_ONCE) await Promise.race(work);
        const job = runJob(message).catch((cause) =>
          options.log(`a job was returned to the queue: ${cause}`),
        );
        work.add(job);
        void job.then(() => work.delete(job));
      }
    },
    /** Resolves when no job runs any more. */
    async idle(): Promise<void> {
      await Promise.allSettled(work);
      polls.close();
    },
  };
}

const interrupted = (job_id: string) =>
  new ToolError(
    "INTERRUPTED",
    `the worker of ${job_id} ended while it ran: it may have changed something; look before you call again`,
    {},
  );

/** Ended jobs whose events can still be read here. */
const MAX_POLLED_JOBS = 256;

/** Lets edges read the events of jobs that run, or ran lately, at this worker, under the ids that they know. */
function createLocalPolls(parts: WorkerParts) {
  const { options, connection, subjects } = parts;
  const known = new Map<string, Subscription>();
  const answer = async (message: Msg, local: string, owner: string): Promise<void> => {
    try {
      const request = parseRequest(parseMsgPack(message.data));
      const { input } = request.request;
      const caller = narrowCaller(options.caller, request);
      if (caller.id !== owner) return;
      const call = { tool: "job", action: "poll", input: { ...Object(input), job_id: local } };
      const { envelope } = await options.dispatch(call, { caller });
      const text = request.text ? { text: toText(options, envelope) } : {};
      message.respond(encodeMsgPack({ local, envelope, ...text }));
    } catch (cause) {
      toToolError(parts, cause);
      message.respond(encodeMsgPack({}));
    }
  };
  return {
    add(job_id: string, local: string, request: RequestEnvelope): void {
      const owner = narrowCaller(options.caller, request).id;
      known.get(job_id)?.unsubscribe();
      known.set(
        job_id,
        connection.nc.subscribe(subjects.poll(job_id), {
          callback: (_, message) => void answer(message, local, owner),
        }),
      );
      const [oldest] = known.keys();
      if (known.size <= MAX_POLLED_JOBS || oldest === undefined) return;
      known.get(oldest)?.unsubscribe();
      known.delete(oldest);
    },
    close(): void {
      for (const subscription of known.values()) subscription.unsubscribe();
    },
  };
}
