import type { Call, Reply } from "./dispatch.ts";
import type { ErrorCode } from "./errors.ts";
import type { Caller } from "./tool.ts";

/** A call as a console shows it. Arguments are left out: they may hold secrets, and the audit log has them. */
export type CallEvent = {
  readonly trace_id: string;
  readonly tool: string;
  readonly action: string;
  readonly caller: string;
  readonly project?: string;
} & (
  | { readonly type: "started" }
  /** `job_id` is set when the work continues as a job. */
  | { readonly type: "ended"; readonly code: ErrorCode | "OK"; readonly job_id?: string }
);

/** A call that ended, with its whole request and reply. */
export interface ObservedCall {
  readonly trace_id: string;
  readonly tool: string;
  readonly action: string;
  readonly caller: string;
  readonly input: unknown;
  readonly reply: Reply;
  /** Milliseconds since 1970. */
  readonly started_at: number;
}

/** Follows calls with their requests and replies, while somebody watches. */
export interface CallObserver {
  started(call: Pick<ObservedCall, "trace_id" | "input">): void;
  /** After the event of its end. */
  ended(call: ObservedCall): void;
}

/** Names come from callers, so they may have any length. */
const MAX_NAME_CHARS = 64;

export const toCallFacts = ({ tool, action }: Call, trace_id: string, caller: Caller) => ({
  trace_id,
  tool: tool.slice(0, MAX_NAME_CHARS),
  action: typeof action === "string" ? action.slice(0, MAX_NAME_CHARS) : "",
  caller: caller.id,
  ...(caller.project !== undefined && { project: caller.project }),
});
