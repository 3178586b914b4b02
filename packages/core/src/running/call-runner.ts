import type { Clock } from "../clock.ts";
import { createNotes } from "../context.ts";
import type { Call, CallOptions, Dispatch, Reply } from "../dispatch.ts";
import { type Meta, toErrorBody } from "../envelope.ts";
import { ToolError } from "../errors.ts";
import { toMeta } from "../to-envelope.ts";
import type { Caller } from "../tool.ts";
import { toTraceId } from "../trace.ts";
import { createProgressReporter } from "./progress.ts";

/** Beyond this a caller gets OVERLOADED, so that waiting calls cannot exhaust memory. */
export const MAX_CALLS_IN_FLIGHT = 256;

const RETRY_AFTER_MS = 250;

/** Runs calls for an edge: limits how many run at once and throttles progress. It never rejects for a call's own failure. */
export type RunCall = (call: Call, options: Omit<CallOptions, "caller">) => Promise<Reply>;

export interface CallRunnerOptions {
  readonly dispatch: Dispatch;
  readonly caller: Caller;
  readonly clock: Clock;
  readonly maxInFlight?: number;
}

/** One runner per connection, or per caller where there are no connections. */
export function createCallRunner(options: CallRunnerOptions): RunCall {
  const { dispatch, caller, clock, maxInFlight = MAX_CALLS_IN_FLIGHT } = options;
  let inFlight = 0;

  return async (call, given) => {
    if (inFlight >= maxInFlight) return overloaded(call, given.traceparent, maxInFlight);
    const reporter = given.onProgress && createProgressReporter(given.onProgress, clock);
    inFlight++;
    try {
      const onProgress = reporter && { onProgress: reporter.report };
      const reply = await dispatch(call, { ...given, caller, ...onProgress });
      return reply.binary ? refuse(reply.envelope.meta, noBytesHere()) : reply;
    } finally {
      inFlight--;
      reporter?.finish();
    }
  };
}

function overloaded(call: Call, traceparent: unknown, maxInFlight: number): Reply {
  const message = `${maxInFlight} calls are already running; wait for some of them, then call again`;
  const error = new ToolError("OVERLOADED", message, { retry_after_ms: RETRY_AFTER_MS });
  return refuse(toMeta(call, toTraceId(traceparent), createNotes()), error);
}

/** For an edge that cannot carry bytes beside an answer: without them the answer would be incomplete. */
export const noBytesHere = () =>
  new ToolError("UNSUPPORTED", "this connection carries no bytes beside an answer; ask for base64", {
    what: "bytes beside an answer",
    how: "ask for base64, or call over ZeroMQ: octant call --via ADDRESS --output FILE",
  });

const refuse = (meta: Meta, error: ToolError): Reply => ({
  envelope: { ok: false, data: null, error: toErrorBody(error), meta },
  attachments: [],
});

/** The memory that the answers of all running calls may take together, roughly. */
const MAX_ANSWER_BYTES_IN_FLIGHT = 64 * 1024 * 1024;
const LARGE_ANSWER_BYTES = MAX_ANSWER_BYTES_IN_FLIGHT / MAX_CALLS_IN_FLIGHT;
/** The largest answer of an action has 10 MiB. */
export const MAX_LARGE_CALLS = 6;

export type LargeCalls = ReturnType<typeof createLargeCalls>;

/** Admits a few calls with large answers at a time; the others wait, and all wait while the reader is behind. */
export function createLargeCalls(isFull: () => boolean) {
  const waiting: (() => void)[] = [];
  let running = 0;

  const admit = () => {
    while (running < MAX_LARGE_CALLS && !isFull()) {
      const start = waiting.shift();
      if (!start) return;
      running++;
      start();
    }
  };
  return {
    /** Resolves when the call may run; `leave` has to follow. */
    enter(): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      admit();
      return promise;
    },
    leave(): void {
      running--;
      // After this turn the answer is in the stream, and `isFull` takes it into account.
      if (waiting.length > 0) setImmediate(admit);
    },
    /** The reader has caught up. */
    resume: admit,
  };
}

/** Every action with a long answer has the parameter `max_bytes`. */
export const asksForLargeAnswer = (input: Readonly<Record<string, unknown>> | undefined): boolean =>
  typeof input?.["max_bytes"] === "number" && input["max_bytes"] > LARGE_ANSWER_BYTES;
