import { randomUUID } from "node:crypto";
import { headers, type Msg } from "@nats-io/transport-node";
import {
  type Call,
  type CallOptions,
  type Dispatch,
  type Envelope,
  JobId,
  newHandle,
  PATIENCE_MS,
  type Reply,
  type StreamChunk,
  type Timing,
  ToolError,
  toTraceId,
} from "@octant/core";
import { type FinalResponse, refusal, toReply } from "../envelopes.ts";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import type { ServerReady } from "../ready.ts";
import { encodeBody, findBinary, HEADERS, parseBody, putBinary } from "./bodies.ts";
import { connectNats, type NatsConnection } from "./connection.ts";
import { DISCOVER_MS, findProject, noWorker } from "./discover.ts";
import { readField, toJobReply, toJobText, toStarted, toView, toWait } from "./job-answers.ts";
import { createJobQueue, type JobQueue, type JobResult, parseResult, toFailure } from "./job-queue.ts";
import { type Subjects, subjectsOf } from "./subjects.ts";

export interface NatsClientOptions {
  readonly url: string;
  /** Required when workers announce several projects. */
  readonly project?: string;
  /** Requests every answer as text, too. */
  readonly text?: boolean;
  /** Called when a worker of the project has started; its tools may differ. */
  readonly onWorkerStarted?: () => void;
}

/** The tools of the workers of one project. */
export interface NatsClient {
  readonly project: string;
  ready(): Promise<ServerReady>;
  readonly dispatch: Dispatch;
  /** Stores a job for the workers of the project; durable when the promise resolves. */
  enqueue(call: Call, options: Pick<CallOptions, "caller" | "traceparent">): Promise<string>;
  result(job_id: string): Promise<Envelope | undefined>;
  cancel(job_id: string): Promise<void>;
  close(): Promise<void>;
}

const CALL_TIMEOUT_MS = 10 * 60 * 1_000;

export async function createNatsClient(options: NatsClientOptions): Promise<NatsClient> {
  const { url, project, text = false } = options;
  const connection = await connectNats(url, "octant edge");
  try {
    const chosen = project ?? (await findProject(connection, url));
    const client = new Client(connection, chosen, text);
    await client.ready();
    if (options.onWorkerStarted) client.onWorkerStarted(options.onWorkerStarted);
    return client;
  } catch (cause) {
    await connection.close();
    throw cause;
  }
}

class Client implements NatsClient {
  readonly project: string;
  readonly #connection: NatsConnection;
  readonly #subjects: Subjects;
  readonly #queue: JobQueue;
  readonly #text: boolean;
  #timings = new Map<string, Timing>();

  constructor(connection: NatsConnection, project: string, text: boolean) {
    this.project = project;
    this.#connection = connection;
    this.#text = text;
    this.#subjects = subjectsOf(project);
    this.#queue = createJobQueue(connection, this.#subjects);
  }

  onWorkerStarted(listener: () => void): void {
    this.#connection.nc.subscribe(this.#subjects.started, { callback: listener });
  }

  async ready(): Promise<ServerReady> {
    const message = await this.#connection.nc
      .request(this.#subjects.ready, encodeMsgPack({}), { timeout: DISCOVER_MS * 5 })
      .catch((cause) => {
        throw noWorker(this.project, cause);
      });
    const ready = (await parseBody(message, this.#connection.bodies, { once: true })) as ServerReady;
    for (const { name, actions } of ready.declarations ?? [])
      for (const [action, { timing }] of Object.entries(actions))
        this.#timings.set(`${name}.${action}`, timing);
    return ready;
  }

  readonly dispatch: Dispatch = async (call, options) => {
    const traceparent = typeof options.traceparent === "string" ? options.traceparent : "";
    try {
      const timing = this.#timings.get(`${call.tool}.${call.action}`) ?? "sync";
      const known = call.tool === "job" ? await this.#answerJob(call, options) : undefined;
      if (known) return known;
      return timing === "sync" ? await this.#call(call, options) : await this.#runJob(call, options, timing);
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      return toReply(refusal(cause, toTraceId(traceparent), call.tool));
    }
  };

  async enqueue(call: Call, options: Pick<CallOptions, "caller" | "traceparent">): Promise<string> {
    const job_id = newHandle("job", Date.now());
    const job = { owner: options.caller.id, tool: call.tool, action: String(call.action) };
    await this.#queue.add(
      job_id,
      this.#toRequest(call, { caller: options.caller }),
      job,
      toHeaders(options.traceparent),
    );
    return job_id;
  }

  async result(job_id: string): Promise<Envelope | undefined> {
    const { result } = (await this.#queue.find(job_id)) ?? {};
    return result && toJobReply(result).envelope;
  }

  /** A job that no worker has taken yet ends here: its first result is its only one. */
  async cancel(job_id: string): Promise<void> {
    const job = await this.#queue.find(job_id);
    if (!job || job.result) return;
    this.#connection.nc.publish(this.#subjects.cancel(job_id), "");
    const failure = new ToolError("CANCELLED", "the job was cancelled", {});
    await this.#queue.finish(job_id, job, toFailure(job, toTraceId(undefined), failure));
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #call(call: Call, options: CallOptions): Promise<Reply> {
    const { nc, bodies } = this.#connection;
    const id = randomUUID();
    const given = toHeaders(options.traceparent);
    given.set(HEADERS.requestId, id);
    if (options.upload) await putBinary(options.upload, bodies, given);
    const { data } = await encodeBody(this.#toRequest(call, options), bodies, given);
    const following = this.#follow(id, options);
    const cancel = () => nc.publish(this.#subjects.cancel(id), "");
    options.signal?.addEventListener("abort", cancel, { once: true });
    try {
      const answer = nc.request(this.#subjects.call, data, { headers: given, timeout: CALL_TIMEOUT_MS });
      if (options.signal?.aborted) cancel();
      const message = await answer.catch((cause) => {
        throw noWorker(this.project, cause);
      });
      const response = (await parseBody(message, bodies, { once: true })) as FinalResponse;
      const binary = findBinary(message.headers, bodies);
      return { ...toReply(response), ...(binary && { binary }) };
    } finally {
      following?.unsubscribe();
      options.signal?.removeEventListener("abort", cancel);
    }
  }

  /** Waits as long as a caller in the same process would; then returns the job's id. */
  async #runJob(call: Call, options: CallOptions, timing: Exclude<Timing, "sync">): Promise<Reply> {
    const { timingHint: hint, signal } = options;
    const patience = PATIENCE_MS[hint === undefined || hint === "sync" ? timing : hint];
    const job_id = await this.enqueue(call, options);
    const following = this.#follow(job_id, options);
    // Until the caller knows the job's id, its abort ends the work.
    const leave = () => void this.cancel(job_id);
    signal?.addEventListener("abort", leave, { once: true });
    if (signal?.aborted) leave();
    try {
      const result = await this.#wait(job_id, patience);
      if (result) return toJobReply(result);
      return { envelope: toStarted(call, job_id, options), attachments: [] };
    } finally {
      following?.unsubscribe();
      signal?.removeEventListener("abort", leave);
    }
  }

  #toRequest({ tool, action, input }: Call, options: Partial<CallOptions>) {
    const { caller, timingHint, key, onProgress, onStream } = options;
    const stream = onStream ? "live" : onProgress && "progress";
    return {
      request: { tool, action, input },
      caller,
      timing_hint: timingHint,
      key,
      stream,
      text: this.#text,
    };
  }

  /** Forwards the events of a job or call, if anybody listens. */
  #follow(id: string, { onProgress, onStream }: CallOptions) {
    if (!onProgress && !onStream) return undefined;
    return this.#connection.nc.subscribe(this.#subjects.event(id), {
      callback(_, { data }) {
        // Workers wrote it.
        const chunk = readField(parseMsgPack(data), "chunk") as StreamChunk | undefined;
        if (chunk?.kind === "progress") onProgress?.(chunk);
        if (chunk) onStream?.(chunk);
      },
    });
  }

  /** Waits for the result. A message about it is only a hint; polling makes up for lost ones. */
  async #wait(job_id: string, ms: number, signal?: AbortSignal): Promise<JobResult | undefined> {
    const { nc, bodies } = this.#connection;
    const found = Promise.withResolvers<JobResult | undefined>();
    const take = (message: Msg) => void parseResult(message, bodies).then(found.resolve, found.reject);
    const subscription = nc.subscribe(this.#subjects.result(job_id), {
      callback: (_, message) => take(message),
    });
    const look = setInterval(
      () =>
        void this.#queue.find(job_id).then(
          (job) => job?.result && found.resolve(job.result),
          () => {},
        ),
      LOOK_EVERY_MS,
    );
    const timer = setTimeout(() => found.resolve(undefined), Math.max(ms, 1));
    const stop = () => found.resolve(undefined);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const stored = await this.#queue.find(job_id);
      return stored?.result ?? (await found.promise);
    } finally {
      subscription.unsubscribe();
      clearInterval(look);
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Answers queries about jobs of the queue; undefined for all others, which the workers have. */
  async #answerJob({ action, input }: Call, options: CallOptions): Promise<Reply | undefined> {
    const { success, data: job_id = "" } = JobId.safeParse(readField(input, "job_id"));
    const job = success ? await this.#queue.find(job_id) : undefined;
    // Another caller's job: the workers do not know it, and say so.
    if (!job || job.owner !== options.caller.id) return undefined;
    if (action === "cancel") await this.cancel(job_id);
    if (action === "poll" && !job.result)
      await this.#wait(job_id, toWait(readField(input, "wait")), options.signal);
    const now = (await this.#queue.find(job_id)) ?? job;
    const view = toView(job_id, now);
    const result = now.result && action !== "cancel" ? toJobReply(now.result) : undefined;
    const data = {
      job: view,
      ...(result && { result: result.envelope }),
      ...(action === "poll" && { next_seq: 0, dropped: 0 }),
    };
    const { traceparent } = options;
    const meta = {
      tool: "job",
      action: String(action),
      trace_id: toTraceId(traceparent),
      paging: { cursor: null, more: false },
    };
    const text = this.#text && { text: toJobText(view, result?.text) };
    return { envelope: { ok: true, data, error: null, meta }, attachments: [], ...text };
  }
}

const LOOK_EVERY_MS = 1_000;

function toHeaders(traceparent: unknown) {
  const given = headers();
  if (typeof traceparent === "string" && traceparent !== "") given.set(HEADERS.traceparent, traceparent);
  return given;
}
