import { type Msg, headers as newHeaders } from "@nats-io/transport-node";
import type { Ask, CallOptions, Question, StreamChunk } from "@octant/core";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import { createViews, type SettledChunk } from "../questions.ts";
import { HEADERS } from "./bodies.ts";
import type { NatsConnection } from "./connection.ts";
import type { Holders } from "./holders.ts";
import { readField } from "./job-answers.ts";
import type { Subjects } from "./subjects.ts";

/** Where an edge talks to the worker of one project. */
export interface EdgeParts {
  readonly connection: NatsConnection;
  readonly subjects: Subjects;
  readonly holders: Holders;
  /** Every answer is wanted as text too. */
  readonly text: boolean;
  /** How long a worker may take to accept a job. Until then it may refuse it, or ask the person. */
  readonly admissionMs: number;
}

export type CallEvents = ReturnType<typeof followCall>;

/** Forwards the events of a job or a call, and asks the person its questions. */
export function followCall(
  { connection: { nc }, subjects }: EdgeParts,
  id: string,
  { onProgress, onStream, ask }: Partial<CallOptions>,
  onEvent: (event: unknown, message: Msg) => void = () => {},
) {
  let questions = 0;
  let nextSeq = 0;
  /** NATS drops messages that a slow reader does not take. */
  const expect = (seq: number) => {
    if (seq > nextSeq) onStream?.({ kind: "missing", chunks: seq - nextSeq });
    nextSeq = Math.max(nextSeq, seq);
  };
  const stopped = new AbortController();
  const views = createViews();
  const events = nc.subscribe(subjects.event(id), {
    callback(_, message) {
      const event = message.data.length > 0 ? parseMsgPack(message.data) : undefined;
      onEvent(event, message);
      // Workers wrote it.
      if (readField(event, "event") === "question_settled") return views.settle(event as SettledChunk);
      // Workers wrote it.
      const chunk = readField(event, "chunk") as StreamChunk | undefined;
      const seq = readField(event, "seq") ?? readField(event, "chunks");
      if (typeof seq === "number") expect(seq);
      if (!chunk) return;
      nextSeq += 1;
      if (chunk.kind === "progress") onProgress?.(chunk);
      onStream?.(chunk);
    },
  });
  const answer = async (message: Msg, asking: Ask) => {
    questions += 1;
    const question = parseMsgPack(message.data) as Question;
    const given = await views.ask(asking, question, stopped.signal);
    questions -= 1;
    message.respond(encodeMsgPack(given));
  };
  const asked =
    ask && nc.subscribe(subjects.ask(id), { callback: (_, message) => void answer(message, ask) });
  return {
    /** How many questions wait for the person. */
    get questions() {
      return questions;
    },
    /** The number of chunks that must have come by now. */
    expect,
    stop(): void {
      events.unsubscribe();
      asked?.unsubscribe();
      stopped.abort();
    },
  };
}

export function toHeaders(traceparent: unknown) {
  const given = newHeaders();
  if (typeof traceparent === "string" && traceparent !== "") given.set(HEADERS.traceparent, traceparent);
  return given;
}
