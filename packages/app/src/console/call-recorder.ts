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
const MAX_SAMPLE = 100;
const NUMBER_BYTES = 8;
const MAX_DEPTH = 8;

/** Roughly the length of the value's JSON, without writing it. */
export function estimateBytes(value: unknown, depth = 0): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return NUMBER_BYTES;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  const keys = Array.isArray(value) ? undefined : Object.keys(value);
  const members: readonly unknown[] = Object.values(value);
  let sum = 2;
  for (const [at, member] of members.entries()) {
    if (at === MAX_SAMPLE) return (sum / MAX_SAMPLE) * members.length;
    sum += estimateBytes(member, depth + 1) + (keys?.[at]?.length ?? 0) + 2;
  }
  return sum;
}
