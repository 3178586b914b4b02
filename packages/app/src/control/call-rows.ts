import type { CallEvent, Published } from "@octant/core";
import type { CallRecorder } from "../console/call-recorder.ts";
import type { AttendedBatch } from "./protocol.ts";

/** Of one batch; beyond it calls are only counted. */
const MAX_ROWS = 250;
/** Calls that run at the same time. */
const MAX_RUNNING = 10_000;

interface Started {
  readonly facts: Omit<CallEvent, "type">;
  readonly at: number;
}

/** Makes one row of the start and the end of a call, where both are in the same batch. */
export function createCallRows(calls: Pick<CallRecorder, "get">) {
  const running = new Map<string, Started>();
  let fresh: Started[] = [];
  let ended: AttendedBatch["events"] = [];
  let skipped = 0;

  const end = (event: Published<CallEvent>) => {
    const { type: _type, ...facts } = event.value;
    const started = running.get(facts.trace_id);
    running.delete(facts.trace_id);
    if (ended.length >= MAX_ROWS) {
      skipped += 1;
      return;
    }
    const recorded = calls.get(facts.trace_id);
    ended.push({
      topic: "calls",
      at: event.at,
      owner: facts.caller,
      event: {
        ...facts,
        started_at: started?.at ?? event.at,
        ...(started && { duration_ms: event.at - started.at }),
        ...(recorded && { request_bytes: recorded.request_bytes, answer_bytes: recorded.answer_bytes }),
      },
    });
  };
  return {
    add(event: Published<CallEvent>): void {
      if (event.value.type === "ended") {
        end(event);
        return;
      }
      const { type: _type, ...facts } = event.value;
      const started = { facts, at: event.at };
      if (running.size < MAX_RUNNING) running.set(facts.trace_id, started);
      if (fresh.length < MAX_ROWS) fresh.push(started);
    },
    /** The rows since the last time: those that still run, and those that ended. */
    take(): AttendedBatch["events"] {
      const still = fresh
        .filter(({ facts }) => running.has(facts.trace_id))
        .map(({ facts, at }) => ({
          topic: "calls",
          at,
          owner: facts.caller,
          event: { ...facts, started_at: at },
        }));
      const counted =
        skipped === 0 ? [] : [{ topic: "calls_skipped", at: Date.now(), event: { count: skipped } }];
      const rows = [...still, ...ended, ...counted];
      fresh = [];
      ended = [];
      skipped = 0;
      return rows;
    },
  };
}
