import { z } from "zod";
import type { ErrorCode, ErrorDetails } from "./errors.ts";

export interface Paging {
  readonly cursor: string | null;
  readonly more: boolean;
}

export interface Meta {
  readonly tool: string;
  readonly action: string;
  readonly trace_id: string;
  readonly backend?: string;
  /** Present while the work continues as a job: job.poll waits for its result. */
  readonly job_id?: string;
  readonly paging: Paging;
}

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
    meta: z.object({
      tool: z.string(),
      action: z.string(),
      trace_id: z.string(),
      backend: z.string().optional(),
      job_id: z.string().optional(),
      paging: z.object({ cursor: z.string().nullable(), more: z.boolean() }),
    }),
  });
