import { type Call, type CallOptions, type Progress, type Reply, TIMINGS, toTraceId } from "@octant/core";
import type { Plain, RequestId } from "./messages.ts";
import { createProgressReporter } from "./progress.ts";
import type { Service } from "./service.ts";

/** Beyond this a client is told to come back, instead of growing our memory. */
export const MAX_CALLS_IN_FLIGHT = 256;

const RETRY_AFTER_MS = 250;

export interface ToolCall {
  readonly name: string;
  readonly args: Plain;
  readonly meta: Plain | undefined;
}

export interface ProgressParams extends Progress {
  readonly progressToken: RequestId;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  readonly notify: (params: ProgressParams) => void;
  /** How the person at the client can be asked; nobody can when absent. */
  readonly ask?: CallOptions["ask"];
}

/** Runs one tools/call; undefined when no such tool is listed. */
export type RunTool = (call: ToolCall, options: RunOptions) => Promise<Reply> | undefined;

/** One runner per connection, or per caller where calls need none: it counts the calls that run. */
export function createToolRunner(
  { listing, dispatch, caller }: Service,
  maxInFlight: number = MAX_CALLS_IN_FLIGHT,
): RunTool {
  let inFlight = 0;

  const run = async (call: Call, meta: Plain | undefined, { signal, notify, ask }: RunOptions) => {
    const traceparent = meta?.["traceparent"];
    if (inFlight >= maxInFlight) return overloaded(call, traceparent, maxInFlight);
    // Messages are checked before they come here: a token is a string or an integer.
    const progressToken = meta?.["progressToken"] as RequestId | undefined;
    const reporter =
      progressToken === undefined
        ? undefined
        : createProgressReporter(({ progress, total, message }) =>
            notify({ progressToken, progress, total, message }),
          );
    inFlight++;
    try {
      return await dispatch(call, {
        caller,
        signal,
        traceparent,
        onProgress: reporter?.report,
        ...(ask && { ask }),
        ...toJobWishes(meta),
      });
    } finally {
      inFlight--;
      reporter?.finish();
    }
  };
  return ({ name, args, meta }, options) => {
    const call = listing().toCall(name, args);
    return call && run(call, meta, options);
  };
}

/** What a client that knows Octant can ask for in `_meta`; anything else there is nobody's concern. */
function toJobWishes(meta: Plain | undefined): Pick<CallOptions, "timingHint" | "key"> {
  const timingHint = TIMINGS.find((timing) => timing === meta?.["octant/timing_hint"]);
  const key = meta?.["octant/key"];
  return { ...(timingHint && { timingHint }), ...(typeof key === "string" && key !== "" && { key }) };
}

export const unknownTool = (name: string, { listing }: Service): string =>
  `Unknown tool: ${name}; tools: ${listing()
    .tools.map((tool) => tool.name)
    .join(", ")}`;

const overloaded = ({ tool, action }: Call, traceparent: unknown, maxInFlight: number): Reply => ({
  envelope: {
    ok: false,
    data: null,
    error: {
      code: "OVERLOADED",
      message: `${maxInFlight} calls are running already; wait for some of them, then call again`,
      details: { retry_after_ms: RETRY_AFTER_MS },
    },
    meta: {
      tool,
      action: typeof action === "string" ? action : "",
      trace_id: toTraceId(traceparent),
      paging: { cursor: null, more: false },
    },
  },
  attachments: [],
});
