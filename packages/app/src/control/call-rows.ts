import type { CallEvent, Published } from "@octant/core";
import type { CallRecorder } from "../console/call-recorder.ts";
import type { AttendedBatch } from "./protocol.ts";

/** Calls that are listed at once; beyond it, and beyond the rate, they are only counted. Failed ones have their own. */
const MAX_ROWS = 1_000;
/** More than a person can follow, and little work for a server that answers several thousand calls a second. */
const ROWS_PER_SECOND = 200;
/** Calls that run at the same time. */
const MAX_RUNNING = 10_000;

type Rows = AttendedBatch["events"];
/** Its last event, which is its start while it runs. */
interface Listed {
  readonly event: Published<CallEvent>;
  readonly started: Published<CallEvent> | undefined;
}

const startOf = ({ event, started }: Listed): number => (started ?? event).seq;

/** Makes one row of the start and the end of a call, where both are in the same batch. */
export function createCallRows(
  calls: Pick<CallRecorder, "get" | "subject" | "keep">,
  now: () => number = Date.now,
) {
  const running = new Map<string, Published<CallEvent>>();
  /** The running calls that have a row. */
  const shown = new Set<string>();
  const rooms = { ok: createRoom(now), failed: createRoom(now) };
  let ended: Listed[] = [];
  let skipped = 0;
  let isBusy = false;
  let takenAt = 0;

  const toRow = ({ event, started }: Listed) => {
    const { type, ...facts } = event.value;
    const subject = calls.subject(facts.trace_id);
    const recorded = type === "ended" ? calls.get(facts.trace_id) : undefined;
    const row = {
      ...facts,
      ...(subject !== "" && { subject }),
      started_at: (started ?? event).at,
      ...(type === "ended" && started && { duration_ms: event.at - started.at }),
      ...(recorded && { request_bytes: recorded.request_bytes, answer_bytes: recorded.answer_bytes }),
    };
    return { topic: "calls", at: event.at, owner: facts.caller, event: row };
  };
  /** The running calls without a row. Under load the short ones are left out: a row for each would be most of the work. */
  const takeFresh = () => {
    const fresh = [...running]
      .filter(([id, { at }]) => !shown.has(id) && (!isBusy || at <= takenAt))
      .slice(0, MAX_ROWS);
    for (const [id] of fresh) shown.add(id);
    return fresh.map(([, event]): Listed => ({ event, started: event }));
  };
  return {
    /** Called for every call, so it only stores references. */
    add(event: Published<CallEvent>): void {
      const { value } = event;
      const { trace_id } = value;
      if (value.type === "started") {
        if (running.size < MAX_RUNNING) running.set(trace_id, event);
        return;
      }
      const started = running.get(trace_id);
      running.delete(trace_id);
      // A row that says "running" must not stay.
      if (!shown.delete(trace_id) && !rooms[value.code === "OK" ? "ok" : "failed"].take()) {
        skipped += 1;
        return;
      }
      calls.keep(trace_id);
      ended.push({ event, started });
    },
    /** Whether calls were left out of the last batch. */
    isBusy: (): boolean => isBusy,
    /** The rows since the last time, by the start of their calls: of those that still run, and of those that ended. */
    take(): Rows {
      isBusy = skipped > 0;
      const rows = [...takeFresh(), ...ended].sort((a, b) => startOf(a) - startOf(b)).map(toRow);
      const counted = isBusy ? [{ topic: "calls_skipped", at: now(), event: { count: skipped } }] : [];
      takenAt = now();
      ended = [];
      skipped = 0;
      return [...rows, ...counted];
    },
  };
}

/** Room for a number of rows at once, and for so many a second. */
function createRoom(now: () => number) {
  let room = MAX_ROWS;
  let filledAt = now();
  return {
    take(): boolean {
      if (room < 1) {
        const at = now();
        room = Math.min(MAX_ROWS, room + ((at - filledAt) * ROWS_PER_SECOND) / 1_000);
        filledAt = at;
        if (room < 1) return false;
      }
      room -= 1;
      return true;
    },
  };
}
