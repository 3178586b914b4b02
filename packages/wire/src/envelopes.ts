import {
  type Access,
  type Attachment,
  type Call,
  type Caller,
  type CallOptions,
  type Envelope,
  type ErrorBody,
  type Meta,
  type Reply,
  TIMINGS,
  type Timing,
  ToolError,
  toErrorBody,
  toTraceId,
} from "@octant/core";
import { z } from "zod";

/**
 * How much of a call the caller wants to see: its progress, everything until it is answered, or everything until its
 * job has ended.
 */
const STREAMS = ["progress", "live", "full"] as const;

/** Thirty days: results are not an archive; cas.store is. */
const MAX_TTL_MS = 30 * 24 * 60 * 60 * 1_000;

/**
 * The body of a Request. The dispatcher validates `action` and `input`, so that every edge reports the same errors.
 */
export const RequestEnvelope = z.strictObject({
  request: z.strictObject({
    tool: z.string(),
    action: z.unknown().optional(),
    input: z.unknown().optional(),
  }),
  /** The caller on whose behalf an edge calls; it never widens the access of the connection. */
  caller: z
    .strictObject({
      id: z.string().min(1).max(256),
      access: z.enum(["read", "write", "admin"]),
      project: z.string().max(256).nullish(),
      remote: z.literal(true).nullish(),
    })
    .nullish(),
  timing_hint: z.enum(TIMINGS).nullish(),
  /** The caller's own key: the same call with the same key is the same job. */
  key: z.string().min(1).nullish(),
  /** How long the result of a job is stored after its end; a day when absent. */
  ttl_ms: z.int().min(0).max(MAX_TTL_MS).nullish(),
  stream: z.enum(STREAMS).nullish(),
  /** The number of unacknowledged chunks allowed; when absent, text chunks are sent as they come. */
  window: z.int().min(1).max(1_024).nullish(),
  /** The person behind the caller can be asked: questions come as chunks, and a Heartbeat brings the answer. */
  asks: z.boolean().nullish(),
  /** Also requests the answer as text for a model. */
  text: z.boolean().nullish(),
  /** The server that the caller knows: another one does not run a change that this one may have run. */
  server_id: z.string().max(64).nullish(),
  /** The number of bytes that follow in RawBinary Requests with the same request id. */
  upload_bytes: z.int().min(0).nullish(),
});
export type RequestEnvelope = z.output<typeof RequestEnvelope>;

export interface WireCallOptions extends Partial<CallOptions> {
  /** Every chunk of the stream; the call is followed until its job, if any, has ended. */
  readonly onChunk?: (chunk: unknown, seq: number) => void;
  /** The bytes of a binary part, in order; the next come when the promise resolves. */
  readonly onBinary?: (bytes: Uint8Array) => Promise<void> | void;
}

const STREAM_WINDOW = 64;

/** The request of a client for a call. Fields that are undefined are not sent. */
export function toRequest({ tool, action, input }: Call, options: WireCallOptions, more: object = {}) {
  const { caller, timingHint, key, ttlMs, onChunk, onStream, onProgress, ask, upload } = options;
  const stream: RequestEnvelope["stream"] = onChunk ? "full" : onStream ? "live" : onProgress && "progress";
  return {
    request: { tool, action, input },
    caller,
    timing_hint: timingHint,
    key,
    ttl_ms: ttlMs,
    stream,
    asks: ask && true,
    window: stream && STREAM_WINDOW,
    upload_bytes: upload?.size,
    ...more,
  };
}

/** The reply of `run`; a ToolError, also of `toError`, becomes the answer. */
export async function orRefusal(
  { tool }: Call,
  { traceparent }: WireCallOptions,
  run: () => Promise<Reply>,
  toError: (cause: unknown) => unknown = (cause) => cause,
): Promise<Reply> {
  try {
    return await run();
  } catch (thrown) {
    const cause = toError(thrown);
    if (!(cause instanceof ToolError)) throw cause;
    return toReply(refusal(cause, toTraceId(traceparent), tool));
  }
}

interface Outcome {
  readonly meta: Meta;
  /** The answer as text for a model, if requested. */
  readonly text?: string;
}

/** The outcome of a call. */
export type FinalResponse =
  | (Outcome & {
      readonly kind: "success";
      readonly data: unknown;
      readonly attachments?: readonly Attachment[];
    })
  | (Outcome & { readonly kind: "error"; readonly error: ErrorBody })
  | (Outcome & {
      readonly kind: "job_started";
      readonly job_id: string;
      readonly tool: string;
      readonly expected_timing: Timing;
      readonly data: unknown;
    })
  | (Outcome & { readonly kind: "ack"; readonly job_id: string; readonly data: unknown });

/**
 * The behaviour when a reader is slower than the stream: the sender waits, or drops the oldest chunks and counts them.
 */
export type SlowReaderRule = "wait" | "drop_oldest";

/** The body of a Reply. */
export type ResponseEnvelope =
  | FinalResponse
  | {
      readonly kind: "stream_start";
      readonly stream_id: string;
      readonly tool: string;
      readonly rule: SlowReaderRule;
      readonly job_id?: string;
      readonly bytes?: number;
      readonly mime?: string;
    }
  | {
      readonly kind: "stream_chunk";
      readonly stream_id: string;
      readonly seq: number;
      readonly chunk: unknown;
    }
  | {
      readonly kind: "stream_end";
      readonly stream_id: string;
      /** How many chunks the stream had, whether they were sent or not. */
      readonly chunks: number;
      /** How many of them were dropped because the reader was too slow. */
      readonly dropped: number;
      readonly response: FinalResponse;
    };

export function toResponse(
  envelope: Envelope,
  attachments: readonly Attachment[],
  timing: Timing | undefined,
): FinalResponse {
  const { ok, data, error, meta } = envelope;
  if (!ok) return { kind: "error", error, meta };
  const { job_id } = meta;
  if (job_id === undefined)
    return { kind: "success", data, meta, ...(attachments.length > 0 && { attachments }) };
  if (timing === "fire_and_forget") return { kind: "ack", job_id, data, meta };
  return {
    kind: "job_started",
    job_id,
    tool: meta.tool,
    expected_timing: timing ?? "async_long",
    data,
    meta,
  };
}

/** The outcome of a job that has ended. */
export const toOutcome = (envelope: Envelope): FinalResponse =>
  envelope.ok
    ? { kind: "success", data: envelope.data, meta: envelope.meta }
    : { kind: "error", error: envelope.error, meta: envelope.meta };

/** The envelope as made by the remote dispatcher. */
export function toEnvelope(response: FinalResponse): Envelope {
  if (response.kind === "error") return { ok: false, data: null, error: response.error, meta: response.meta };
  return { ok: true, data: response.data, error: null, meta: response.meta };
}

export function parseRequest(value: unknown): RequestEnvelope {
  const parsed = RequestEnvelope.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
  const what = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("; ");
  const message = `malformed request envelope: ${what}; docs/wire.md has its fields`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues });
}

export const toCall = ({ request }: RequestEnvelope): Call => ({
  tool: request.tool,
  action: request.action,
  input: request.input,
});

const RANK: Readonly<Record<Access, number>> = { read: 0, write: 1, admin: 2 };

/** The caller in the request, limited to the access of the connection's own caller. */
export function narrowCaller(connection: Caller, { caller }: RequestEnvelope): Caller {
  if (!caller) return connection;
  const project = connection.project ?? caller.project ?? undefined;
  return {
    id: caller.id,
    access: RANK[caller.access] < RANK[connection.access] ? caller.access : connection.access,
    ...(project !== undefined && { project }),
    ...((connection.remote || caller.remote) && { remote: true }),
  };
}

/** Converts a reply for the local caller. */
export const toReply = (response: FinalResponse): Reply => ({
  envelope: toEnvelope(response),
  attachments: response.kind === "success" ? (response.attachments ?? []) : [],
  ...(response.text !== undefined && { text: response.text }),
});

/** For a request that never reached the dispatcher. */
export const refusal = (cause: ToolError, trace_id: string, tool = ""): FinalResponse => ({
  kind: "error",
  error: toErrorBody(cause),
  meta: { tool, action: "", trace_id, paging: { cursor: null, more: false } },
});

const RETRY_AFTER_MS = 250;

export const overloaded = (limit: number) =>
  new ToolError("OVERLOADED", `${limit} calls are already running; wait for some of them, then call again`, {
    retry_after_ms: RETRY_AFTER_MS,
  });
