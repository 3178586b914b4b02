import { z } from "zod";
import type { ErrorCode, ErrorDetails, ToolError } from "./errors.ts";

const Meta = z.object({
  tool: z.string(),
  action: z.string(),
  trace_id: z.string(),
  backend: z.string().optional(),
  /** Present while the work continues as a job: job.poll waits for its result. */
  job_id: z.string().optional(),
  paging: z.object({ cursor: z.string().nullable(), more: z.boolean() }),
  /** A permission rule whose files are left out of the data. */
  left_out: z.string().optional(),
  /** In answers with each fact once: the folder that relative uris of lists start from. */
  base: z.string().optional(),
});
export type Meta = Readonly<z.output<typeof Meta>>;
export type Paging = Readonly<Meta["paging"]>;

export type ErrorBody = {
  [C in ErrorCode]: { readonly code: C; readonly message: string; readonly details: ErrorDetails<C> };
}[ErrorCode];

/** The one shape of every answer, on every edge. */
export type Envelope<D = unknown> =
  | { readonly ok: true; readonly data: D; readonly error: null; readonly meta: Meta }
  | { readonly ok: false; readonly data: null; readonly error: ErrorBody; readonly meta: Meta };

/** The envelope as a schema; `data` is as the action's output says. */
export const envelopeSchema = (data: z.ZodType = z.unknown()) =>
  z.object({
    ok: z.boolean(),
    data: data.nullable(),
    error: z.object({ code: z.string(), message: z.string(), details: z.unknown() }).nullable(),
    meta: Meta,
  });

/** The constructor of a ToolError ties its code and details together; the union cannot express that. */
export const toErrorBody = ({ code, message, details }: ToolError): ErrorBody =>
  ({ code, message, details }) as ErrorBody;

/** The answer to a call that failed before, or outside of, its action. */
export const toFailure = (
  { tool, action }: Pick<Meta, "tool" | "action">,
  trace_id: string,
  error: ToolError,
): Envelope => ({
  ok: false,
  data: null,
  error: toErrorBody(error),
  meta: { tool, action, trace_id, paging: { cursor: null, more: false } },
});
