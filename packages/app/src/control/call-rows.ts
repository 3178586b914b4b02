import type { CallEvent, Published } from "@octant/core";
import type { CallRecorder } from "../console/call-recorder.ts";
import type { AttendedBatch } from "./protocol.ts";

/** Calls that are listed at once; beyond it, and beyond the rate, they are only counted. */
const MAX_ROWS = 250;
/** More than a person can follow, and little work for a server that answers several thousand calls a second. */
const ROWS_PER_SECOND = 1_000;
/** Calls that run at the same time. */
const MAX_RUNNING = 10_000;

type Rows = AttendedBatch["events"];
interface Ended {
  readonly event: Published<CallEvent>;
  readonly started: Published<CallEvent> | undefined;
}

/** Makes one row of the start and the end of a call, where both are in the same batch. */
export function createCallRows(calls: Pick<CallRecorder, "get" | "subject">, now: () => number = Date.now) {
  const running = new Map<string, Published<CallEvent>>();
  let fresh: Published<CallEvent>[] = [];
  let ended: Ended[] = [];
  let skipped = 0;
  let room = MAX_ROWS;
  let filledAt = now();

  const refill = () => {
    const at = now();
    room = Math.min(MAX_ROWS, room + ((at - filledAt) * ROWS_PER_SECOND) / 1_000);
    filledAt = at;
  };
  const toRow = (event: Published<CallEvent>, more: object) => {
    const { type: _type, ...facts } = event.value;
    const subject = calls.subject(facts.trace_id);
    const all = { ...facts, ...(subject !== "" && { subject }), ...more };
    return { topic: "calls", at: event.at, owner: facts.caller, event: all };
  };
  const toEndedRow = ({ event, started }: Ended) => {
    const recorded = calls.get(event.value.trace_id);
    return toRow(event, {
      started_at: started?.at ?? event.at,
      ...(started && { duration_ms: event.at - started.at }),
      ...(recorded && { request_bytes: recorded.request_bytes, answer_bytes: recorded.answer_bytes }),
    });
  };
  return {
    /** Called for every call, so it only keeps references. */
    add(event: Published<CallEvent>): void {
      const { type, trace_id } = event.value;
      if (type === "started") {
        if (running.size < MAX_RUNNING) running.set(trace_id, event);
        if (fresh.length < MAX_ROWS) fresh.push(event);
        return;
      }
      const started = running.get(trace_id);
      running.delete(trace_id);
      if (ended.length < room) ended.push({ event, started });
      else skipped += 1;
    },
    /** The rows since the last time: of calls that still run, and of those that ended. */
    take(): Rows {
      const still = fresh
        .filter(({ value }) => running.has(value.trace_id))
        .map((event) => toRow(event, { started_at: event.at }));
      const counted = skipped === 0 ? [] : [{ topic: "calls_skipped", at: now(), event: { count: skipped } }];
      const rows = [...still, ...ended.map(toEndedRow), ...counted];
      room -= ended.length;
      refill();
      fresh = [];
      ended = [];
      skipped = 0;
      return rows;
    },
  };
}
