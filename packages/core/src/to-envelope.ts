import type { Notes } from "./context.ts";
import type { Call } from "./dispatch.ts";
import { type Envelope, type ErrorBody, type Meta, toErrorBody } from "./envelope.ts";
import { ToolError } from "./errors.ts";

/** Runs the work and returns its outcome as an envelope. It never rejects. */
export type ToEnvelope = (work: () => Promise<unknown>, signal?: AbortSignal) => Promise<Envelope>;

export const createToEnvelope =
  (call: Call, traceId: string, notes: Notes, onBug: (cause: unknown) => void): ToEnvelope =>
  async (work, signal) => {
    try {
      const data = await work();
      const { settled } = notes;
      if (settled?.envelope.ok && settled.envelope.data === data) return settled.envelope;
      return { ok: true, data, error: null, meta: toMeta(call, traceId, notes) };
    } catch (cause) {
      if (notes.settled && cause === notes.settled.cause) return notes.settled.envelope;
      const error = describeFailure(cause, signal, traceId);
      // A ToolError with INTERNAL was reported where it was caught first.
      if (error.code === "INTERNAL" && !(cause instanceof ToolError)) onBug(cause);
      return { ok: false, data: null, error, meta: toMeta(call, traceId, notes) };
    }
  };

export const toMeta = (
  { tool, action }: Call,
  trace_id: string,
  { backend, job, paging, leftOut }: Pick<Notes, "backend" | "job" | "paging" | "leftOut">,
): Meta => ({
  tool,
  action: typeof action === "string" ? action : "",
  trace_id,
  ...(backend !== undefined && { backend }),
  ...(job !== undefined && { job_id: job.job_id }),
  paging,
  ...(leftOut !== undefined && { left_out: leftOut }),
});

function describeFailure(cause: unknown, signal: AbortSignal | undefined, trace_id: string): ErrorBody {
  if (cause instanceof ToolError) return toErrorBody(cause);
  if (signal?.aborted) return { code: "CANCELLED", message: "the call was cancelled", details: {} };
  const message = "this is a bug in Octant; the log has the details under this trace_id";
  return { code: "INTERNAL", message, details: { trace_id } };
}
