import {
  type BinaryPart,
  type ErrorBody,
  noBytesHere,
  type Progress,
  type StreamChunk,
  ToolError,
} from "@octant/core";
import { checkReady, checkReply } from "../check-reply.ts";
import type { FinalResponse, ResponseEnvelope, WireCallOptions } from "../envelopes.ts";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import { createViews, type QuestionChunk, type SettledChunk, type WireAnswer } from "../questions.ts";
import type { ServerReady } from "../ready.ts";
import { UPLOAD_WINDOW } from "../upload.ts";
import { createWindow } from "../window.ts";
import type { encodeFrames, Message } from "./frames.ts";

export type OutgoingMessage = Parameters<typeof encodeFrames>[0];

type Answer = { readonly ready: ServerReady } | { readonly response: FinalResponse };

const NEVER = new AbortController().signal;
/** Small, so that the engine collects received chunks often: large ones pile up outside its heap. */
const UPLOAD_CHUNK_BYTES = 16 * 1024;

/** A request that waits for its answer. */
export class PendingRequest {
  readonly #message: OutgoingMessage;
  readonly #options: WireCallOptions;
  readonly #post: (message: OutgoingMessage) => void;
  readonly #answer = Promise.withResolvers<Answer>();
  /** How far the upload may be ahead of the server. */
  readonly #window = createWindow(UPLOAD_WINDOW);
  /** Chunks and raw parts so far. */
  #received = 0;
  #streamId = "";
  /** The number of the next chunk; one with a smaller number was sent again. */
  #nextSeq = 0;
  /** How many different chunks and questions have come. */
  #seen = 0;
  /** Bytes so far; of those, `#delivered` were passed on. A server that sends them again starts at the first. */
  #bytes = 0;
  #delivered = 0;
  #expectedBytes: number | undefined;
  /** Binary parts are delivered one after the other. */
  #delivering = Promise.resolve();
  /** Each is asked once, also when a server repeats it. */
  readonly #questions = new Map<string, Promise<WireAnswer>>();
  readonly #views = createViews();

  /** `post` sends a message with the id of this request. */
  constructor(message: OutgoingMessage, options: WireCallOptions, post: (message: OutgoingMessage) => void) {
    this.#message = message;
    this.#options = options;
    this.#post = post;
  }

  /** Sends the request and waits for its answer. The signal cancels it. */
  async run(): Promise<Answer> {
    const { signal, upload } = this.#options;
    const cancel = () => this.#post({ command: "disconnect" });
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      this.#post(this.#message);
      if (signal?.aborted) cancel();
      if (upload) void this.#sendUpload(upload);
      return await this.#answer.promise;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /**
   * Sends the request once more; it keeps its id, so a server that already has it does not run it again. One that was
   * cancelled ends: another server would run it, and the cancellation may be lost.
   */
  resend() {
    if (this.#options.signal?.aborted) {
      this.#post({ command: "disconnect" });
      return this.fail(
        new ToolError("CANCELLED", "the connection was lost while the call was cancelled", {}),
      );
    }
    if (!this.#options.upload) return this.#post(this.#message);
    const text = "the connection was lost during an upload; call again";
    this.fail(new ToolError("INTERRUPTED", text, {}));
  }

  fail(cause: unknown): void {
    this.#answer.reject(cause);
  }

  /** Takes a message of the server about this request. */
  take(message: Message): void {
    try {
      this.#take(message);
    } catch (cause) {
      // A server may be anybody's: what it sends fails its own call, and nothing else.
      if (!(cause instanceof ToolError)) throw cause;
      this.fail(cause);
    }
  }

  #take({ command, contentType, body }: Message): void {
    if (command === "heartbeat" && contentType === "msgpack") this.#acknowledged(parseMsgPack(body));
    else if (command === "ready") this.#answer.resolve({ ready: checkReady(parseMsgPack(body)) });
    else if (command === "reply" && contentType === "raw") this.#takeBytes(body);
    else if (command === "reply") this.#takeReply(checkReply(parseMsgPack(body)));
  }

  #acknowledged(value: unknown): void {
    if (typeof value === "object" && value !== null && "received" in value)
      this.#window.acknowledge(Number(value.received));
  }

  #takeBytes(bytes: Uint8Array): void {
    const known = Math.min(bytes.length, Math.max(0, this.#delivered - this.#bytes));
    this.#bytes += bytes.length;
    this.#delivered = Math.max(this.#delivered, this.#bytes);
    this.#delivering = this.#delivering.then(async () => {
      if (known < bytes.length) await this.#options.onBinary?.(bytes.subarray(known));
      this.#acknowledge();
    });
    this.#delivering.catch(this.#answer.reject);
  }

  #takeReply(response: ResponseEnvelope): void {
    if (response.kind === "stream_start") this.#startStream(response);
    else if (response.kind === "stream_chunk") this.#takeChunk(response.chunk, response.seq);
    else if (response.kind === "stream_end") this.#endStream(response);
    else this.#answer.resolve({ response });
  }

  #startStream({ stream_id, bytes }: Extract<ResponseEnvelope, { kind: "stream_start" }>): void {
    this.#expectedBytes = bytes;
    this.#bytes = 0;
    this.#received = 0;
    // Another stream is that of a restarted server, which has run the request anew.
    if (stream_id !== this.#streamId) {
      this.#nextSeq = 0;
      this.#seen = 0;
    }
    this.#streamId = stream_id;
    if (bytes === undefined || this.#options.onBinary) return;
    this.#post({ command: "disconnect" });
    this.fail(noBytesHere());
  }

  #takeChunk(chunk: unknown, seq: number): void {
    const { ask, signal = NEVER, onChunk, onProgress, onStream } = this.#options;
    if (ask && isOfKind<QuestionChunk>(chunk, "question")) {
      const { question } = chunk;
      const { question_id } = question;
      if (!this.#questions.has(question_id)) this.#seen += 1;
      const answer = this.#questions.get(question_id) ?? this.#views.ask(ask, question, signal);
      this.#questions.set(question_id, answer);
      void answer.then((given) => this.#notify({ question_id, ...given }));
    } else if (isOfKind<SettledChunk>(chunk, "question_settled")) {
      this.#seen += 1;
      this.#views.settle(chunk);
    } else if (seq >= this.#nextSeq) {
      this.#nextSeq = seq + 1;
      this.#seen += 1;
      onChunk?.(chunk, seq);
      if (isOfKind<Progress & { kind: string }>(chunk, "progress")) onProgress?.(chunk);
      // The server's own encoder wrote it.
      onStream?.(chunk as StreamChunk);
    }
    this.#acknowledge();
  }

  /** Answers the request with the last reply of its stream, unless bytes are missing; missing chunks are reported. */
  #endStream({ chunks, response }: Extract<ResponseEnvelope, { kind: "stream_end" }>): void {
    const missing = chunks - this.#seen;
    if (missing > 0) this.#options.onStream?.({ kind: "missing", chunks: missing });
    const [bytes, expected] = [this.#bytes, this.#expectedBytes];
    const isWhole = expected === undefined || expected === bytes || response.kind === "error";
    if (isWhole) void this.#delivering.then(() => this.#answer.resolve({ response }), this.#answer.reject);
    else this.fail(new ToolError("INTERRUPTED", `${bytes} of ${expected} bytes arrived; call again`, {}));
  }

  #acknowledge(): void {
    this.#received += 1;
    this.#notify({ received: this.#received });
  }

  /** Sends a message about the running request to the server. */
  #notify(update: object): void {
    this.#post({ command: "heartbeat", contentType: "msgpack", body: encodeMsgPack(update) });
  }

  /** Sends the bytes of the request as fast as the server takes them, until it has an answer. */
  async #sendUpload({ read }: BinaryPart): Promise<void> {
    const ended = new AbortController();
    const end = () => ended.abort();
    this.#answer.promise.then(end, end);
    try {
      for await (const bytes of read()) {
        for (let at = 0; at < bytes.length; at += UPLOAD_CHUNK_BYTES) {
          await this.#window.opened(ended.signal);
          this.#window.sent();
          const body = bytes.subarray(at, at + UPLOAD_CHUNK_BYTES);
          this.#post({ command: "request", contentType: "raw", body });
        }
      }
    } catch (cause) {
      if (ended.signal.aborted) return;
      this.#post({ command: "disconnect" });
      this.fail(cause);
    }
  }
}

const isOfKind = <T extends { readonly kind: string }>(chunk: unknown, kind: T["kind"]): chunk is T =>
  typeof chunk === "object" && chunk !== null && "kind" in chunk && chunk.kind === kind;

export const toToolError = ({ code, message, details }: ErrorBody) => new ToolError(code, message, details);
