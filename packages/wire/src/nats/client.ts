import { randomUUID } from "node:crypto";
import type { Msg } from "@nats-io/transport-node";
import {
  type Call,
  type CallOptions,
  type Dispatch,
  type Envelope,
  type Reply,
  type Timing,
  ToolError,
} from "@octant/core";
import { type FinalResponse, orRefusal, toReply, toRequest } from "../envelopes.ts";
import { encodeMsgPack } from "../msgpack/codec.ts";
import type { ServerReady } from "../ready.ts";
import type { NatsAddress } from "./address.ts";
import { encodeBody, findBinary, HEADERS, parseBody, putBinary } from "./bodies.ts";
import { type EdgeParts, followCall, toHeaders } from "./call-events.ts";
import { connectNats, toUpstreamError } from "./connection.ts";
import { findProject, noWorker } from "./discover.ts";
import { type AnswerFromQueue, createAnswerFromQueue } from "./edge-answers.ts";
import { createEdgeJobs, type EdgeJobs } from "./edge-jobs.ts";
import { followHolders, isUndelivered } from "./holders.ts";
import { toJobReply } from "./job-answers.ts";
import { createJobQueue, type JobQueue } from "./job-queue.ts";
import { subjectsOf } from "./subjects.ts";
import { ALIVE_MS } from "./worker-calls.ts";

export interface NatsClientOptions extends NatsAddress {
  /** Required when workers announce several projects. */
  readonly project?: string;
  /** Requests every answer as text, too. */
  readonly text?: boolean;
  /** After so long a job that no worker takes is answered as queued. */
  readonly admissionMs?: number;
}

const ADMISSION_MS = 5_000;
const READY_MS = 5_000;

/** No call lasts longer: subscriptions do, and are called again. */
const CALL_TIMEOUT_MS = 24 * 60 * 60 * 1_000;
/** A worker that is silent about a call for so long is gone. */
const SILENCE_MS = 5 * ALIVE_MS;

export async function createNatsClient(options: NatsClientOptions): Promise<NatsClient> {
  const { url, project, text = false, admissionMs = ADMISSION_MS } = options;
  const connection = await connectNats(options, "octant edge");
  try {
    const chosen = project ?? (await findProject(connection, url));
    const subjects = subjectsOf(chosen);
    const holders = await followHolders(connection, subjects.lease);
    const client = new Client({ connection, subjects, holders, text, admissionMs }, chosen);
    await client.ready();
    return client;
  } catch (cause) {
    await connection.close();
    throw cause;
  }
}

/** The tools of the worker that has a project. */
export type NatsClient = Client;

class Client {
  readonly project: string;
  readonly #parts: EdgeParts;
  readonly #queue: JobQueue;
  readonly #jobs: EdgeJobs;
  readonly #answerFromQueue: AnswerFromQueue;
  #timings = new Map<string, Timing>();

  constructor(parts: EdgeParts, project: string) {
    this.project = project;
    this.#parts = parts;
    this.#queue = createJobQueue(parts.connection, parts.subjects);
    this.#jobs = createEdgeJobs(this.#parts, this.#queue);
    const call = (one: Call, options: CallOptions) => this.#call(one, options);
    this.#answerFromQueue = createAnswerFromQueue(this.#parts, this.#queue, this.#jobs, call);
  }

  /** Calls back when another worker has taken over the project. */
  onTakeover(listener: () => void): void {
    this.#parts.holders.onTaken(listener);
  }

  /** Calls back when a worker of the project has started, or its tools have changed. */
  onTools(listener: () => void): void {
    const { connection, subjects } = this.#parts;
    connection.nc.subscribe(subjects.started, { callback: listener });
  }

  async ready(): Promise<ServerReady> {
    const { connection, subjects } = this.#parts;
    const ask = (worker_id: string) =>
      connection.nc.request(subjects.ready(worker_id), encodeMsgPack({}), { timeout: READY_MS });
    const message = await this.#atWorker(ask);
    const ready = (await parseBody(message, connection.bodies, { once: true })) as ServerReady;
    for (const { name, actions } of ready.declarations ?? [])
      for (const [action, { timing }] of Object.entries(actions))
        this.#timings.set(`${name}.${action}`, timing);
    return ready;
  }

  readonly dispatch: Dispatch = (call, options) =>
    orRefusal(
      call,
      options,
      async () => {
        const known = await this.#answerFromQueue(call, options);
        if (known) return known;
        const timing = this.#timings.get(`${call.tool}.${call.action}`) ?? "sync";
        if (timing === "sync") return this.#call(call, options);
        return this.#jobs.run(this.#toRequest(call, options), call, options, timing);
      },
      toUpstreamError,
    );

  /** Stores a job for the workers of the project; durable when the promise resolves. */
  enqueue(call: Call, options: Pick<CallOptions, "caller" | "traceparent">): Promise<string> {
    return this.#jobs.enqueue(this.#toRequest(call, { caller: options.caller }), call, options);
  }

  async result(job_id: string): Promise<Envelope | undefined> {
    const { result } = (await this.#queue.find(job_id)) ?? {};
    return result && toJobReply(result).envelope;
  }

  cancel(job_id: string): Promise<void> {
    return this.#jobs.cancel(job_id);
  }

  async close(): Promise<void> {
    await this.#parts.connection.close();
  }

  /** Asks the worker that has the project; one that cannot be reached may have a successor soon. */
  async #atWorker(ask: (worker_id: string) => Promise<Msg>, signal?: AbortSignal): Promise<Msg> {
    const { holders } = this.#parts;
    for (;;) {
      const holder = await holders.current(signal);
      if (!holder) throw noWorker(this.project);
      try {
        const message = await ask(holder.worker_id);
        if (!message.headers?.has(HEADERS.notMine)) return message;
      } catch (cause) {
        if (cause instanceof ToolError) throw cause;
        if (!isUndelivered(cause)) throw noWorker(this.project, cause);
      }
      holders.forget(holder);
    }
  }

  async #call(call: Call, options: CallOptions): Promise<Reply> {
    const { connection, subjects, holders } = this.#parts;
    const { nc, bodies } = connection;
    const { signal } = options;
    const id = randomUUID();
    const given = toHeaders(options.traceparent);
    given.set(HEADERS.requestId, id);
    if (options.upload) await putBinary(options.upload, bodies, given);
    const { data } = await encodeBody(this.#toRequest(call, options), bodies, given);
    const following = followCall(this.#parts, id, options, () => silence.heard());
    const silence = createSilence();
    const cancel = () => nc.publish(subjects.cancel(id), "");
    signal?.addEventListener("abort", cancel, { once: true });
    let asked = "";
    const stopWatching = holders.onTaken((worker_id) => {
      if (asked && worker_id !== asked) silence.end();
    });
    const ask = async (worker_id: string) => {
      asked = worker_id;
      silence.heard();
      const sent = { headers: given, timeout: CALL_TIMEOUT_MS };
      try {
        return await Promise.race([nc.request(subjects.call(worker_id), data, sent), silence.broken]);
      } finally {
        asked = "";
        silence.stop();
      }
    };
    try {
      const answer = this.#atWorker(ask, signal);
      if (signal?.aborted) cancel();
      const message = await answer;
      const response = (await parseBody(message, bodies, { once: true })) as FinalResponse;
      following.expect(Number(message.headers?.get(HEADERS.chunks) || 0));
      const binary = findBinary(message.headers, bodies);
      return { ...toReply(response), ...(binary && { binary }) };
    } finally {
      stopWatching();
      following.stop();
      signal?.removeEventListener("abort", cancel);
    }
  }

  #toRequest(call: Call, options: Partial<CallOptions>) {
    return toRequest(call, options, { text: this.#parts.text });
  }
}

/** Rejects when the worker of a call has been silent for too long. */
function createSilence() {
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const text = "the worker stopped responding during the call; check what it did before you call again";
  const end = () => reject(new ToolError("INTERRUPTED", text, {}));
  let timer: NodeJS.Timeout | undefined;
  // After the answer, nothing awaits it.
  broken.catch(() => {});
  return {
    broken,
    end,
    heard() {
      clearTimeout(timer);
      timer = setTimeout(end, SILENCE_MS);
    },
    stop: () => clearTimeout(timer),
  };
}
