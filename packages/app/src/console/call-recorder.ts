import { type CallObserver, type ObservedCall, subjectOf } from "@octant/core";
import type { Redact } from "@octant/runtime";

const MAX_CALLS = 1_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** Calls that run at the same time. */
const MAX_RUNNING = 10_000;
const MAX_SUBJECT_CHARS = 200;

export interface RecordedCall extends ObservedCall {
  readonly request_bytes: number;
  readonly answer_bytes: number;
  readonly ended_at: number;
}

export type CallRecorder = ReturnType<typeof createCallRecorder>;

/**
 * The last listed calls with their requests and answers, while somebody watches. It holds references; secrets are removed from
 * what is read: here from a subject, in `console.call` from the whole call.
 */
export function createCallRecorder(redact: Redact) {
  /** The arguments of the calls that run. */
  const running = new Map<string, unknown>();
  const calls = new Map<string, RecordedCall>();
  let bytes = 0;
  let watchers = 0;
  /** The call that is ending now and that a watcher lists. */
  let kept: string | undefined;
  const drop = ([id, call]: [string, RecordedCall]) => {
    calls.delete(id);
    bytes -= call.request_bytes + call.answer_bytes;
  };
  const record = (call: ObservedCall): void => {
    running.delete(call.trace_id);
    if (call.trace_id !== kept) return;
    const request_bytes = estimateBytes(call.input);
    const { envelope, attachments } = call.reply;
    const pictures = attachments.reduce((sum, one) => sum + one.bytes.byteLength, 0);
    const answer_bytes = estimateBytes(envelope) + pictures;
    calls.set(call.trace_id, { ...call, request_bytes, answer_bytes, ended_at: Date.now() });
    bytes += request_bytes + answer_bytes;
    for (const oldest of calls) {
      if (calls.size <= MAX_CALLS && bytes <= MAX_BYTES) return;
      drop(oldest);
    }
  };
  const observer: CallObserver = {
    started({ trace_id, input }) {
      if (running.size < MAX_RUNNING) running.set(trace_id, input);
    },
    ended: record,
  };
  return {
    /** For the dispatcher: undefined while nobody watches. */
    observer: () => (watchers > 0 ? observer : undefined),
    /** The subject of a call on one line, without secrets; empty when it is not known. */
    subject(trace_id: string): string {
      const text = subjectOf(calls.get(trace_id)?.input ?? running.get(trace_id));
      const cut = redact(text.slice(0, 4 * MAX_SUBJECT_CHARS)).replace(/\p{Cc}+/gu, " ");
      return cut.slice(0, MAX_SUBJECT_CHARS).toWellFormed();
    },
    /** Records a call that is ending; the others are forgotten, because nobody can ask for a call that is not listed. */
    keep(trace_id: string): void {
      kept = trace_id;
    },
    get: (trace_id: string): RecordedCall | undefined => calls.get(trace_id),
    /** Records until the returned function is called by the last watcher. */
    watch(): () => void {
      watchers += 1;
      return () => {
        watchers -= 1;
        if (watchers > 0) return;
        calls.clear();
        running.clear();
        bytes = 0;
      };
    },
  };
}

/** Longer lists are measured by their beginning. */
const MAX_SAMPLE = 20;
const NUMBER_BYTES = 8;
const MAX_DEPTH = 5;

/** Roughly the length of the value's JSON, without writing it. */
export function estimateBytes(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return NUMBER_BYTES;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (Array.isArray(value)) {
    const sample = value.length > MAX_SAMPLE ? value.slice(0, MAX_SAMPLE) : value;
    const sum = sample.reduce<number>((total, one) => total + estimateBytes(one, depth + 1) + 1, 2);
    return Math.round((sum / Math.max(1, sample.length)) * value.length);
  }
  let sum = 2;
  // Keys of plain data, without an array of entries for every object.
  for (const key in value) sum += key.length + 4 + estimateBytes(value[key as keyof typeof value], depth + 1);
  return sum;
}
