import type { ObservedCall } from "@octant/core";

const MAX_CALLS = 1_000;
const MAX_BYTES = 32 * 1024 * 1024;

export interface RecordedCall extends ObservedCall {
  readonly request_bytes: number;
  readonly answer_bytes: number;
  readonly ended_at: number;
}

export type CallRecorder = ReturnType<typeof createCallRecorder>;

/**
 * The last calls with their requests and answers, while somebody looks. It holds references and removes no secrets:
 * readers get them through `console.call`, which does.
 */
export function createCallRecorder() {
  const calls = new Map<string, RecordedCall>();
  let bytes = 0;
  let watchers = 0;
  const drop = ([id, call]: [string, RecordedCall]) => {
    calls.delete(id);
    bytes -= call.request_bytes + call.answer_bytes;
  };
  const record = (call: ObservedCall): void => {
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
  return {
    /** For the dispatcher: undefined while nobody looks. */
    observer: () => (watchers > 0 ? record : undefined),
    get: (trace_id: string): RecordedCall | undefined => calls.get(trace_id),
    /** Records until the returned function is called by the last watcher. */
    watch(): () => void {
      watchers += 1;
      return () => {
        watchers -= 1;
        if (watchers > 0) return;
        calls.clear();
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
