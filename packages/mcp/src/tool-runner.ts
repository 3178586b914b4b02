import { type CallOptions, createCallRunner, type Progress, type Reply, TIMINGS } from "@octant/core";
import { monotonicClock } from "./clock.ts";
import type { Plain, RequestId } from "./messages.ts";
import type { Service } from "./service.ts";

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

/** The tool calls of one connection, or of one caller where there are no connections. */
export function createToolRunner(
  { listing, dispatch, caller }: Service,
  maxInFlight?: number | undefined,
): RunTool {
  const run = createCallRunner({
    ...{ dispatch, caller, clock: monotonicClock },
    ...(maxInFlight !== undefined && { maxInFlight }),
  });
  return ({ name, args, meta }, { signal, notify, ask }) => {
    const call = listing().toCall(name, args);
    // Messages are validated before they come here: a token is a string or an integer.
    const progressToken = meta?.["progressToken"] as RequestId | undefined;
    return (
      call &&
      run(call, {
        signal,
        traceparent: meta?.["traceparent"],
        ...(progressToken !== undefined && {
          onProgress: ({ progress, total, message }) => notify({ progressToken, progress, total, message }),
        }),
        ...(ask && { ask }),
        ...toJobOptions(meta),
      })
    );
  };
}

/** What a client that knows Octant can request in `_meta`; other members are ignored. */
function toJobOptions(meta: Plain | undefined): Pick<CallOptions, "timingHint" | "key"> {
  const timingHint = TIMINGS.find((timing) => timing === meta?.["octant/timing_hint"]);
  const key = meta?.["octant/key"];
  return { ...(timingHint && { timingHint }), ...(typeof key === "string" && key !== "" && { key }) };
}

export const unknownTool = (name: string, { listing }: Service): string =>
  `Unknown tool: ${name}; tools: ${listing()
    .tools.map((tool) => tool.name)
    .join(", ")}`;
