import { type Call, type CallOptions, type Progress, ToolError } from "@octant/core";
import type { FinalResponse, RequestEnvelope } from "../envelopes.ts";
import type { encodeFrames } from "../hoot01/frames.ts";
import { type QuestionChunk, toWireAnswer, type WireAnswer } from "../questions.ts";
import type { ServerReady } from "../ready.ts";
import type { Window } from "../window.ts";

export interface WireCallOptions extends Partial<CallOptions> {
  /** Every chunk of the stream; the call is followed until its job, if any, has ended. */
  readonly onChunk?: (chunk: unknown, seq: number) => void;
  /** The bytes of a binary part, in order; the next come when the promise resolves. */
  readonly onBinary?: (bytes: Uint8Array) => Promise<void> | void;
}

/** A request that waits for its answer. */
export interface Pending {
  readonly message: Parameters<typeof encodeFrames>[0];
  readonly options: WireCallOptions;
  readonly answer: PromiseWithResolvers<Answer>;
  readonly upload: Window | undefined;
  /** Chunks and raw parts so far. */
  received: number;
  bytes: number;
  expectedBytes: number | undefined;
  /** Binary parts are delivered one after the other. */
  handing: Promise<void>;
  /** Each is asked once, also when a server repeats it. */
  readonly questions: Map<string, Promise<WireAnswer>>;
}

export type Answer = { readonly ready: ServerReady } | { readonly response: FinalResponse };

export function toRequest({ tool, action, input }: Call, options: WireCallOptions) {
  const stream = toStream(options);
  return {
    request: { tool, action, input },
    caller: options.caller,
    timing_hint: options.timingHint,
    key: options.key,
    stream,
    ...(options.ask && { asks: true }),
    ...(stream && { window: STREAM_WINDOW }),
    upload_bytes: options.upload?.size,
  };
}

function toStream({ onChunk, onStream, onProgress }: WireCallOptions): RequestEnvelope["stream"] {
  if (onChunk) return "full";
  if (onStream) return "live";
  return onProgress && "progress";
}

const STREAM_WINDOW = 64;

export function acknowledge({ upload }: Pending, value: unknown) {
  if (typeof value === "object" && value !== null && "received" in value)
    upload?.acknowledge(Number(value.received));
}

const isQuestion = (chunk: unknown): chunk is QuestionChunk =>
  typeof chunk === "object" && chunk !== null && "kind" in chunk && chunk.kind === "question";

/** The body that answers a question, when the chunk is one. */
export function answerQuestion({ options, questions }: Pending, chunk: unknown) {
  const { ask, signal = NEVER } = options;
  if (!isQuestion(chunk) || !ask) return undefined;
  const { question_id } = chunk;
  const answer = questions.get(question_id) ?? toWireAnswer(ask, chunk, signal);
  questions.set(question_id, answer);
  return answer.then((given) => ({ question_id, ...given }));
}

const NEVER = new AbortController().signal;

export const isProgress = (chunk: unknown): chunk is Progress =>
  typeof chunk === "object" && chunk !== null && "kind" in chunk && chunk.kind === "progress";

export const toToolError = ({ code, message, details }: Extract<FinalResponse, { kind: "error" }>["error"]) =>
  new ToolError(code, message, details);

export const gone = (address: string, reason: string) =>
  new ToolError("UPSTREAM_ERROR", `${address}: ${reason}`, {});

/** Answers the request with the last reply of its stream, unless bytes are missing. */
export function endStream({ answer, handing, expectedBytes, bytes }: Pending, response: FinalResponse): void {
  const isWhole = expectedBytes === undefined || expectedBytes === bytes || response.kind === "error";
  if (isWhole) return void handing.then(() => answer.resolve({ response }), answer.reject);
  answer.reject(new ToolError("INTERRUPTED", `${bytes} of ${expectedBytes} bytes arrived; call again`, {}));
}
