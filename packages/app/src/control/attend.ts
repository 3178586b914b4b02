import {
  type CallEvent,
  describeQuestion,
  type NamedTopic,
  type Published,
  type QuestionEvent,
  type Questions,
  type Topics,
  viewOf,
} from "@octant/core";
import type { CallRecorder } from "../console/call-recorder.ts";
import { createCallRows } from "./call-rows.ts";
import type { ClientList } from "./client-list.ts";
import type { AttendedBatch } from "./protocol.ts";

/** A batch is sent this long after its first event: short enough to look live, long enough to be cheap. */
const BATCH_MS = 50;
/** While there are more calls than are listed: every batch makes the console and its pages work. */
const BUSY_BATCH_MS = 500;
/** Above this the reader does not keep up, and batches wait. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
const MAX_WAITING_EVENTS = 5_000;

export type Attend = (
  send: (batch: AttendedBatch) => void,
  unsentBytes: () => number,
  signal: AbortSignal,
  /** The reader knows the calls that ended until then. */
  after?: number,
) => void;

export interface AttendSources {
  readonly topics: Topics;
  readonly calls: CallRecorder;
  readonly questions: Pick<Questions, "attend">;
  readonly clients: Pick<ClientList, "watch">;
}

/**
 * Sends the events of all topics in batches, also of topics of tools that are added later. Meanwhile calls are recorded
 * with request and answer, and questions that no front end shows wait for the person who watches.
 */
export function createAttend({ topics, calls, questions, clients }: AttendSources): Attend {
  return (send, unsentBytes, signal, after = 0) => {
    let waiting: AttendedBatch["events"] = [];
    let lost = 0;
    /** The status has changed without an event. */
    let isChanged = false;
    let timer: NodeJS.Timeout | undefined;
    let isHurried = false;
    const rows = createCallRows(calls);
    const flush = () => {
      timer = undefined;
      isHurried = false;
      if (unsentBytes() > MAX_UNSENT_BYTES) return later();
      const events = [...rows.take(), ...waiting];
      waiting = [];
      if (events.length > 0 || lost > 0 || isChanged) send({ events, ...(lost > 0 && { lost }) });
      lost = 0;
      isChanged = false;
    };
    const later = () => {
      timer ??= setTimeout(flush, rows.isBusy() ? BUSY_BATCH_MS : BATCH_MS).unref();
    };
    /** Calls wait for each other, a question does not wait for them. */
    const soon = () => {
      if (isHurried) return;
      isHurried = true;
      clearTimeout(timer);
      timer = setTimeout(flush, BATCH_MS).unref();
    };
    const take = (topic: string, named: NamedTopic, event: Published<unknown>) => {
      if (topic === "calls") {
        later();
        // The topic of calls has these events.
        return rows.add(event as Published<CallEvent>);
      }
      soon();
      waiting.push({
        topic,
        at: event.at,
        owner: named.ownerOf?.(event.value),
        event: toView(topic, named, event),
      });
      if (waiting.length <= MAX_WAITING_EVENTS) return;
      waiting.shift();
      lost += 1;
    };
    const followed = new Map<NamedTopic["events"], () => void>();
    const look = () => {
      for (const [topic, named] of Object.entries(topics.all())) {
        const name = OWN_TOPICS.has(topic) ? topic : `tool:${topic}`;
        if (!followed.has(named.events))
          followed.set(
            named.events,
            named.events.listen((event) => take(name, named, event)),
          );
      }
    };
    // Before the first new event, in the same turn.
    // The topic of calls has these events.
    for (const event of since(after, (topics.get("calls")?.events.read(0).events ?? []) as CallEvents)) {
      later();
      rows.add(event);
    }
    look();
    const stopClients = clients.watch(() => {
      isChanged = true;
      soon();
    });
    const stops = [
      topics.get("tools")?.events.listen(look),
      calls.watch(),
      questions.attend(() => true),
      stopClients,
    ];
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        for (const stop of [...followed.values(), ...stops]) stop?.();
      },
      { once: true },
    );
  };
}

type CallEvents = readonly Published<CallEvent>[];

/** Without the calls that had ended by then. */
function since(at: number, events: CallEvents): CallEvents {
  const known = events.filter((event) => event.value.type === "ended" && event.at <= at);
  const ids = new Set(known.map(({ value }) => value.trace_id));
  return events.filter(({ value }) => !ids.has(value.trace_id));
}

const OWN_TOPICS: ReadonlySet<string> = new Set([
  "calls",
  "jobs",
  "processes",
  "sessions",
  "questions",
  "tools",
]);

function toView(topic: string, named: NamedTopic, event: Published<unknown>): Record<string, unknown> {
  if (topic !== "questions") return { ...viewOf(named, event) };
  // The topic of questions has these events.
  const value = event.value as QuestionEvent;
  if (value.type !== "asked") return { ...value };
  return {
    type: "asked",
    question: { ...value.question, text: describeQuestion(value.question).join("\n") },
  };
}
