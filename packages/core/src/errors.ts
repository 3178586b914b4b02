import { z } from "zod";

const none = z.object({});
const at = z.object({ uri: z.string() });
const limit = z.object({ limit: z.number(), actual: z.number().optional(), what: z.string().optional() });
const policy = z.object({ by: z.string(), rule: z.string().optional(), reason: z.string().optional() });

/** Every failure a caller can see: one row per code, and nothing about a code is written elsewhere. */
export const ERRORS = {
  // request
  UNKNOWN_TOOL: { http: 404, retry: false, details: z.object({ available: z.array(z.string()) }) },
  UNKNOWN_ACTION: { http: 404, retry: false, details: z.object({ available: z.array(z.string()) }) },
  INVALID_ARGUMENT: {
    http: 400,
    retry: false,
    details: z.object({ issues: z.array(z.object({ path: z.string(), message: z.string() })) }),
  },
  INVALID_CURSOR: { http: 400, retry: false, details: none },
  UNSUPPORTED: { http: 501, retry: false, details: z.object({ what: z.string(), how: z.string() }) },
  // resource
  NOT_FOUND: {
    http: 404,
    retry: false,
    details: z.object({ uri: z.string().optional(), id: z.string().optional() }),
  },
  ALREADY_EXISTS: { http: 409, retry: false, details: at.extend({ hash: z.string().optional() }) },
  NOT_A_FILE: { http: 400, retry: false, details: at.extend({ kind: z.string() }) },
  NOT_A_DIRECTORY: { http: 400, retry: false, details: at },
  NOT_TEXT: { http: 415, retry: false, details: at },
  NOT_A_REPOSITORY: { http: 400, retry: false, details: at },
  // policy
  OUTSIDE_WORKSPACE: { http: 403, retry: false, details: z.object({ roots: z.array(z.string()) }) },
  PROTECTED_PATH: { http: 403, retry: false, details: at.extend({ rule: z.string() }) },
  ACCESS_DENIED: { http: 403, retry: false, details: at.partial() },
  PERMISSION_DENIED: { http: 403, retry: false, details: policy },
  APPROVAL_REQUIRED: { http: 403, retry: false, details: policy },
  CONFIRM_REQUIRED: { http: 428, retry: false, details: z.object({ would: z.unknown() }) },
  UNTRUSTED_CONFIG: { http: 403, retry: false, details: z.object({ waiting: z.array(z.string()) }) },
  SANDBOX_UNAVAILABLE: {
    http: 503,
    retry: false,
    details: z.object({ required: z.string(), available: z.string() }),
  },
  NET_BLOCKED: { http: 403, retry: false, details: z.object({ host: z.string() }) },
  UNAUTHENTICATED: { http: 401, retry: false, details: none },
  // state
  PRECONDITION_REQUIRED: {
    http: 428,
    retry: false,
    details: z.object({
      uris: z.array(z.string()),
      hashes: z.array(z.string()).describe("Of each, as it is now"),
      quotes_text: z.boolean().describe("Whether every change quotes the text that it replaces"),
    }),
  },
  CONFLICT: {
    http: 409,
    retry: false,
    details: z.object({
      uri: z.string().optional(),
      expected: z.string(),
      actual: z.string(),
      diff: z.string().optional().describe("Changes since base_hash, if the base is still known"),
      rebased_patch: z
        .string()
        .optional()
        .describe("The same edit rebased on the current file; send it with `actual`"),
    }),
  },
  PATCH_FAILED: {
    http: 422,
    retry: false,
    details: z.object({
      uri: z.string().optional(),
      hunk: z.number().optional(),
      line: z.number().optional(),
      candidates: z.array(z.object({ line: z.number(), text: z.string() })).optional(),
    }),
  },
  LOCKED: { http: 423, retry: true, details: none },
  // limits
  TOO_LARGE: { http: 413, retry: false, details: limit },
  LIMIT_EXCEEDED: { http: 429, retry: false, details: limit },
  TIMEOUT: { http: 504, retry: true, details: z.object({ after_ms: z.number() }) },
  CANCELLED: { http: 499, retry: false, details: none },
  OVERLOADED: { http: 503, retry: true, details: z.object({ retry_after_ms: z.number() }) },
  INTERRUPTED: { http: 500, retry: true, details: none },
  // environment
  NO_SPACE: { http: 507, retry: false, details: none },
  IO_ERROR: { http: 500, retry: true, details: z.object({ errno: z.string().optional() }) },
  EXEC_FAILED: { http: 500, retry: false, details: z.object({ program: z.string() }) },
  VCS_ERROR: { http: 500, retry: false, details: z.object({ exit_code: z.number().nullable() }) },
  UPSTREAM_ERROR: { http: 502, retry: true, details: z.object({ status: z.number().optional() }) },
  // our bug
  INTERNAL: { http: 500, retry: false, details: z.object({ trace_id: z.string() }) },
} as const;

export type ErrorCode = keyof typeof ERRORS;
export type ErrorDetails<C extends ErrorCode> = z.output<(typeof ERRORS)[C]["details"]>;

/** A failure the caller is meant to see. Anything else thrown is a bug and becomes INTERNAL. */
export class ToolError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "ToolError";
  readonly code: C;
  readonly details: ErrorDetails<C>;

  constructor(code: C, message: string, details: ErrorDetails<C>, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

/** INVALID_ARGUMENT for one parameter, named by its path in the input. */
export const invalidArgument = (path: string, message: string, options?: ErrorOptions) =>
  new ToolError("INVALID_ARGUMENT", message, { issues: [{ path, message }] }, options);
