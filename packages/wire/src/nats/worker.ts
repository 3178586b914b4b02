import { AckPolicy, type JsMsg } from "@nats-io/jetstream";
import { headers, type Msg, nanos } from "@nats-io/transport-node";
import { type Envelope, ToolError, toEventView, toTraceId } from "@octant/core";
import { toDeclaration } from "../declarations.ts";
import {
  narrowCaller,
  parseRequest,
  type RequestEnvelope,
  refusal,
  toCall,
  toResponse,
} from "../envelopes.ts";
import { MAX_BODY_BYTES } from "../hoot01/frames.ts";
import { encodeMsgPack } from "../msgpack/codec.ts";
import { PROTOCOL, type ServerReady } from "../ready.ts";
import { type JobFeed, type RequestRunner, toListeners, toText, withText } from "../run-request.ts";
import { encodeBody, findBinary, HEADERS, parseBody, putBinary } from "./bodies.ts";
import { connectNats, type NatsConnection } from "./connection.ts";
import { createJobQueue, type JobQueue, type JobResult, type QueuedJob, toFailure } from "./job-queue.ts";
import { toState } from "./job-state.ts";
import { DISCOVER, JOBS_STREAM, type Subjects, subjectsOf } from "./subjects.ts";

export interface NatsWorkerOptions extends RequestRunner {
  readonly url: string;
  /** The id of the project in this workspace; its workers share its calls and jobs. */
  readonly project: string;
  readonly jobs: JobFeed & LocalJobs;
  readonly name: string;
  readonly version: string;
  readonly instructions?: string;
  readonly log: (line: string) => void;
}

interface LocalJobs {
  ended(owner: string, job_id: string, ms: number, signal: AbortSignal): Promise<unknown>;
}

/** A worker's announcement to an edge that looks for projects. */
export interface Announcement {
  readonly worker_id: string;
  readonly project: string;
  readonly name: string;
  readonly version: string;
  readonly tools: readonly string[];
}

export interface NatsWorker {
  readonly project: string;
  close(): Promise<void>;
}

/** A worker without a heartbeat for this long loses its jobs to others. */
const ACK_WAIT_MS = 10_000;
const MAX_JOBS_AT_ONCE = 8;
const MAX_CALLS_AT_ONCE = 256;
/** A job whose workers died this often fails with INTERRUPTED instead of crashing another. */
const MAX_DELIVERIES = 3;
const WAIT_MS = 60_000;
const RETRY_AFTER_MS = 250;

/** Serves one project to the edges of a NATS server, until it is closed. */
export async function createNatsWorker(options: NatsWorkerOptions): Promise<NatsWorker> {
  const connection = await connectNats(options.url, `octant worker ${options.project}`);
  const worker = new Worker(options, connection, subjectsOf(options.project));
  await worker.start();
  return { project: options.project, close: () => worker.close() };
}

class Worker {
  readonly #options: NatsWorkerOptions;
  readonly #connection: NatsConnection;
  readonly #subjects: Subjects;
  readonly #queue: JobQueue;
  readonly #running = new Map<string, AbortController>();
  readonly #jobs = new Set<Promise<void>>();
  #calls = 0;
  #stop: (() => void)[] = [];

  constructor(options: NatsWorkerOptions, connection: NatsConnection, subjects: Subjects) {
    this.#options = options;
    this.#connection = connection;
    this.#subjects = subjects;
    this.#queue = createJobQueue(connection, subjects);
  }

  async start(): Promise<void> {
    const { nc, jsm, js } = this.#connection;
    const { call, ready, allCancels, queue, allJobs } = this.#subjects;
    const listen = (subject: string, take: (message: Msg) => void, group?: string) => {
      const callback = (failure: Error | null, message: Msg) =>
        failure ? this.#options.log(failure.message) : take(message);
      const subscription = nc.subscribe(subject, { callback, ...(group && { queue: group }) });
      this.#stop.push(() => subscription.unsubscribe());
    };
    listen(DISCOVER, (message) => void message.respond(encodeMsgPack(this.#announcement())));
    listen(ready, (message) => void this.#ready(message), queue);
    listen(call, (message) => void this.#call(message), queue);
    listen(allCancels, (message) => this.#cancel(message.subject));
    const { caller, jobs } = this.#options;
    this.#stop.push(jobs.events.listen((event) => event.value.owner === caller.id && this.#broadcast(event)));
    await jsm.consumers.add(JOBS_STREAM, {
      durable_name: queue,
      filter_subject: allJobs,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ACK_WAIT_MS),
      max_ack_pending: 1_000,
    });
    const consumer = await js.consumers.get(JOBS_STREAM, queue);
    const messages = await consumer.consume({ max_messages: MAX_JOBS_AT_ONCE });
    this.#stop.push(() => messages.stop());
    void this.#consume(messages);
    nc.publish(this.#subjects.started, encodeMsgPack(this.#announcement()));
  }

  /** Cancels running jobs and returns them to the queue, so that another worker runs them. */
  async close(): Promise<void> {
    for (const stop of this.#stop.splice(0)) stop();
    for (const controller of this.#running.values()) controller.abort(new WorkerStops());
    await Promise.allSettled(this.#jobs);
    await this.#connection.close();
  }

  #announcement(): Announcement {
    const { project, name, version, registry } = this.#options;
    return {
      worker_id: this.#connection.nc.info?.client_id?.toString() ?? "",
      project,
      name,
      version,
      tools: registry.list().map((tool) => tool.name),
    };
  }

  async #ready(message: Msg): Promise<void> {
    const { name, version, instructions, registry, roots } = this.#options;
    const tools = registry.list();
    const ready: ServerReady = {
      protocol: PROTOCOL,
      name,
      version,
      tools: tools.map((tool) => tool.name),
      declarations: tools.map(toDeclaration),
      ...(instructions !== undefined && { instructions }),
      ...(roots && { roots }),
      accepts_binary: true,
      heartbeat_ms: 0,
      max_body_bytes: MAX_BODY_BYTES,
    };
    const { data, headers: given } = await encodeBody(ready, this.#connection.bodies);
    message.respond(data, { headers: given });
  }

  /** A call that is answered inline. Its reply subject identifies it in a cancellation. */
  async #call(message: Msg): Promise<void> {
    const { bodies } = this.#connection;
    const traceparent = message.headers?.get(HEADERS.traceparent) ?? "";
    const id = message.headers?.get(HEADERS.requestId) ?? "";
    const controller = new AbortController();
    if (id) this.#running.set(id, controller);
    this.#calls += 1;
    const given = headers();
    try {
      if (this.#calls > MAX_CALLS_AT_ONCE) throw overloaded();
      const request = parseRequest(await parseBody(message, bodies, { once: true }));
      const upload = findBinary(message.headers, bodies);
      const reply = await this.#dispatch(request, traceparent, controller.signal, {
        ...(upload && { upload }),
        ...(id && toListeners(request, (chunk) => this.#emit(id, { event: "stream_chunk", chunk }))),
        ...(request.timing_hint && { timingHint: request.timing_hint }),
        ...(request.key && { key: request.key }),
      });
      if (reply.binary) await putBinary(reply.binary, bodies, given);
      const response = toResponse(reply.envelope, reply.attachments, undefined);
      await respond(message, request.text ? withText(this.#options, response) : response, bodies, given);
    } catch (cause) {
      await respond(message, refusal(this.#asToolError(cause), toTraceId(traceparent)), bodies, headers());
    } finally {
      this.#calls -= 1;
      this.#running.delete(id);
    }
  }

  #dispatch(request: RequestEnvelope, traceparent: string, signal: AbortSignal, more: object) {
    const caller = narrowCaller(this.#options.caller, request);
    return this.#options.dispatch(toCall(request), { caller, signal, traceparent, ...more });
  }

  async #consume(messages: AsyncIterable<JsMsg>): Promise<void> {
    for await (const message of messages) {
      if (this.#jobs.size >= MAX_JOBS_AT_ONCE) await Promise.race(this.#jobs);
      const job = this.#runJob(message).catch((cause) => this.#options.log(`a job was given back: ${cause}`));
      this.#jobs.add(job);
      void job.then(() => this.#jobs.delete(job));
    }
  }

  /** Acknowledged only when the result is stored; until then another worker may get the job. */
  async #runJob(message: JsMsg): Promise<void> {
    const job_id = message.subject.slice(message.subject.lastIndexOf(".") + 1);
    const alive = setInterval(() => message.working(), ACK_WAIT_MS / 3);
    const controller = new AbortController();
    this.#running.set(job_id, controller);
    try {
      const found = await this.#queue.find(job_id);
      if (found && !found.result) {
        this.#emit(job_id, { event: "job_state", state: "running" });
        const result = await this.#outcome(message, job_id, found, controller.signal);
        if (await this.#queue.finish(job_id, found, result))
          this.#emit(job_id, { event: "job_state", state: toState(result) });
      }
      await message.ackAck();
    } catch (cause) {
      message.nak();
      if (!(cause instanceof WorkerStops)) throw cause;
    } finally {
      clearInterval(alive);
      this.#running.delete(job_id);
    }
  }

  async #outcome(message: JsMsg, job_id: string, job: QueuedJob, signal: AbortSignal): Promise<JobResult> {
    const traceparent = message.headers?.get(HEADERS.traceparent) ?? "";
    const request = parseRequest(
      await parseBody({ data: message.data, headers: message.headers }, this.#connection.bodies, {
        once: false,
      }),
    );
    const deliveries = message.info.deliveryCount;
    if (deliveries > MAX_DELIVERIES) {
      const text = `the worker died ${MAX_DELIVERIES} times while ${job_id} was running; start it again`;
      return toFailure(job, toTraceId(traceparent), new ToolError("INTERRUPTED", text, {}));
    }
    // Each delivery is a new job: one that died with its worker would answer for the next.
    const { envelope } = await this.#dispatch(request, traceparent, signal, {
      key: `${job_id}.${deliveries}`,
      ...toListeners({ stream: "live" }, (chunk) => this.#emit(job_id, { event: "stream_chunk", chunk })),
    });
    const outcome = await this.#ended(envelope, narrowCaller(this.#options.caller, request).id, signal);
    if (signal.aborted && signal.reason instanceof WorkerStops) throw signal.reason;
    return request.text ? { ...outcome, text: toText(this.#options, outcome) } : outcome;
  }

  /** Waits for work that continues as a local job: it is durable in this workspace before its result is stored. */
  async #ended(envelope: Envelope, owner: string, signal: AbortSignal): Promise<Envelope> {
    const { jobs } = this.#options;
    const { job_id } = envelope.meta;
    if (job_id === undefined) return envelope;
    for (;;) {
      await jobs.ended(owner, job_id, WAIT_MS, signal);
      const result = await jobs.result(owner, job_id);
      if (result) return result;
      signal.throwIfAborted();
    }
  }

  #cancel(subject: string): void {
    const id = subject.slice(subject.lastIndexOf(".") + 1);
    this.#running.get(id)?.abort(new ToolError("CANCELLED", "the caller cancelled the call", {}));
  }

  #broadcast(event: Parameters<typeof toEventView>[0]): void {
    this.#connection.nc.publish(this.#subjects.event(event.value.job_id), encodeMsgPack(toEventView(event)));
  }

  #emit(job_id: string, event: object): void {
    this.#connection.nc.publish(
      this.#subjects.event(job_id),
      encodeMsgPack({ at: Date.now(), job_id, ...event }),
    );
  }

  #asToolError(cause: unknown): ToolError {
    if (cause instanceof ToolError) return cause;
    this.#options.log(
      `a call failed outside the dispatcher: ${cause instanceof Error ? cause.stack : cause}`,
    );
    return new ToolError("UPSTREAM_ERROR", "the worker could not answer; call again", {});
  }
}

async function respond(
  message: Msg,
  response: unknown,
  bodies: NatsConnection["bodies"],
  given: ReturnType<typeof headers>,
): Promise<void> {
  const { data } = await encodeBody(response, bodies, given);
  message.respond(data, { headers: given });
}

/** The reason for which jobs are returned to the queue. */
class WorkerStops extends Error {
  override readonly name = "WorkerStops";
}

const overloaded = () =>
  new ToolError(
    "OVERLOADED",
    `${MAX_CALLS_AT_ONCE} calls are already running; wait for some of them, then call again`,
    {
      retry_after_ms: RETRY_AFTER_MS,
    },
  );
