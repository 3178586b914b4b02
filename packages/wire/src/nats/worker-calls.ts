import { headers, type Msg } from "@nats-io/transport-node";
import { ToolError, toTraceId } from "@octant/core";
import { overloaded, parseRequest, refusal, toResponse } from "../envelopes.ts";
import { dispatchRequest, toListeners, withText } from "../run-request.ts";
import { encodeBody, findBinary, HEADERS, parseBody, putBinary } from "./bodies.ts";
import type { NatsConnection } from "./connection.ts";
import { askEdge, emit, toToolError, type WorkerParts, WorkerStops } from "./worker-parts.ts";

const MAX_CALLS_AT_ONCE = 2_048;
/** How often an edge hears that a call still runs. */
export const ALIVE_MS = 3_000;

/** Answers calls in place. */
export function createCallAnswerer(parts: WorkerParts): (message: Msg) => Promise<void> {
  const { options, connection, running } = parts;
  const { bodies } = connection;
  let calls = 0;
  return async (message) => {
    const traceparent = message.headers?.get(HEADERS.traceparent) ?? "";
    const id = message.headers?.get(HEADERS.requestId) ?? "";
    const controller = new AbortController();
    if (id) running.set(id, controller);
    const alive = id ? setInterval(() => emit(parts, id, { event: "alive" }), ALIVE_MS) : undefined;
    calls += 1;
    const given = headers();
    try {
      if (calls > MAX_CALLS_AT_ONCE) throw overloaded(MAX_CALLS_AT_ONCE);
      const request = parseRequest(await parseBody(message, bodies, { once: true }));
      const upload = findBinary(message.headers, bodies);
      const reply = await dispatchRequest(options, request, {
        ...{ traceparent, signal: controller.signal },
        ...(upload && { upload }),
        ...(id && toListeners(request, (chunk) => emit(parts, id, { event: "stream_chunk", chunk }))),
        ...(id && request.asks && { ask: askEdge(parts, id) }),
      });
      if (controller.signal.reason instanceof WorkerStops && !reply.envelope.ok) throw stopped();
      if (reply.binary) await putBinary(reply.binary, bodies, given);
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
    "the worker stopped during the call; look at what it did before you call again",
    {},
  );
