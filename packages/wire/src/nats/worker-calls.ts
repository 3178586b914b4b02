import { headers, type Msg } from "@nats-io/transport-node";
import { type Ask, orAborted, ToolError, toTraceId } from "@octant/core";
import { overloaded, parseRequest, refusal, toResponse } from "../envelopes.ts";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import { onSettled, readAnswer } from "../questions.ts";
import { dispatchRequest, type JobFeed, type RequestRunner, toListeners, withText } from "../run-request.ts";
import type { NatsAddress } from "./address.ts";
import { encodeBody, findBinary, HEADERS, parseBody, putBinary } from "./bodies.ts";
import type { NatsConnection } from "./connection.ts";
import type { Subjects } from "./subjects.ts";

export interface NatsWorkerOptions extends RequestRunner, NatsAddress {
  /** The id of the project; one of its workers at a time has its calls and jobs. */
  readonly project: string;
  readonly jobs: JobFeed & LocalJobs;
  readonly name: string;
  readonly version: string;
  readonly instructions?: string;
  readonly log: (line: string) => void;
}

interface LocalJobs {
  ended(owner: string, job_id: string, ms: number, signal: AbortSignal): Promise<unknown>;
  cancel(owner: string, job_id: string): Promise<unknown>;
}

/** The state shared by the calls and jobs of one worker. */
export interface WorkerParts {
  readonly options: NatsWorkerOptions;
  readonly connection: NatsConnection;
  readonly subjects: Subjects;
  /** By the id that a cancellation names. */
  readonly running: Map<string, AbortController>;
  /** Whether this worker has the project; one that was paused for too long has lost it. */
  readonly isHeld: () => boolean;
}

/** Publishes an event of a job, or of a call under its request id. */
export function emit({ connection: { nc }, subjects }: WorkerParts, id: string, event: object): void {
  nc.publish(subjects.event(id), encodeMsgPack({ at: Date.now(), job_id: id, ...event }));
}

/** As long as a person may take. */
const QUESTION_MS = 10 * 60_000;

/** Asks the edge that follows this job or call; without one nobody can be asked. */
export const askEdge =
  (parts: WorkerParts, id: string): Ask =>
  async (question, signal) => {
    signal.throwIfAborted();
    onSettled(question, signal, (settled) => emit(parts, id, { event: "question_settled", ...settled }));
    const {
      connection: { nc },
      subjects,
    } = parts;
    const answer = nc
      .request(subjects.ask(id), encodeMsgPack(question), { timeout: QUESTION_MS })
      .catch(() => undefined);
    const message = await orAborted(answer, signal);
    return message && readAnswer(parseMsgPack(message.data));
  };

/** The reason for which jobs are returned to the queue. */
export class WorkerStops extends Error {
  override readonly name = "WorkerStops";
}

export function toToolError({ options: { log } }: WorkerParts, cause: unknown): ToolError {
  if (cause instanceof ToolError) return cause;
  log(`a call failed outside the dispatcher: ${cause instanceof Error ? cause.stack : cause}`);
  return new ToolError("UPSTREAM_ERROR", "the worker could not answer; call again", {});
}

const MAX_CALLS_AT_ONCE = 2_048;
/** How often an edge hears that a call still runs. */
export const ALIVE_MS = 3_000;

/** Answers calls in place. */
export function createCallAnswerer(parts: WorkerParts): (message: Msg) => Promise<void> {
  const { options, connection, running } = parts;
  const { bodies } = connection;
  let calls = 0;
  return async (message) => {
    if (!parts.isHeld()) return refuseCall(message);
    const traceparent = message.headers?.get(HEADERS.traceparent) ?? "";
    const id = message.headers?.get(HEADERS.requestId) ?? "";
    const controller = new AbortController();
    if (id) running.set(id, controller);
    const alive = id ? setInterval(() => emit(parts, id, { event: "alive" }), ALIVE_MS) : undefined;
    calls += 1;
    const given = headers();
    let chunks = 0;
    const onChunk = (chunk: object) => emit(parts, id, { event: "stream_chunk", seq: chunks++, chunk });
    try {
      if (calls > MAX_CALLS_AT_ONCE) throw overloaded(MAX_CALLS_AT_ONCE);
      const request = parseRequest(await parseBody(message, bodies, { once: true }));
      const upload = findBinary(message.headers, bodies);
      const reply = await dispatchRequest(options, request, {
        traceparent,
        signal: controller.signal,
        ...(upload && { upload }),
        ...(id && toListeners(request, onChunk)),
        ...(id && request.asks && { ask: askEdge(parts, id) }),
      });
      if (controller.signal.reason instanceof WorkerStops && !reply.envelope.ok) throw stopped();
      if (reply.binary) await putBinary(reply.binary, bodies, given);
      given.set(HEADERS.chunks, String(chunks));
      const response = toResponse(reply.envelope, reply.attachments, undefined);
      await respond(message, request.text ? withText(options, response) : response, bodies, given);
    } catch (cause) {
      await respond(message, refusal(toToolError(parts, cause), toTraceId(traceparent)), bodies, headers());
    } finally {
      calls -= 1;
      clearInterval(alive);
      running.delete(id);
    }
  };
}

function refuseCall(message: Msg): void {
  const given = headers();
  given.set(HEADERS.notMine, "1");
  message.respond("", { headers: given });
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

const stopped = () =>
  new ToolError(
    "INTERRUPTED",
    "the worker stopped during the call; check what it did before you call again",
    {},
  );
