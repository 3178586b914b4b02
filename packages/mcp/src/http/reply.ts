import type { ServerResponse } from "node:http";
import { createEventStream, type EventStream, sendJson } from "@octant/http";
import type { Limits } from "./limits.ts";

export interface ReplyOptions {
  readonly limits: Pick<Limits, "keepAliveMs" | "streamAfterMs">;
  readonly takesStream: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** The response is this stream, which replaces a broken one. */
  readonly resumed?: EventStream;
  /** Called before the first event on a stream. */
  readonly onStream?: (stream: EventStream) => void;
  /** Called when the connection closed before the answer was sent. */
  readonly onBroken?: () => void;
}

/** The response to one posted request: plain JSON, or a stream of events when more than the answer is sent. */
export class PostReply {
  readonly #response: ServerResponse;
  readonly #options: ReplyOptions;
  readonly #later: NodeJS.Timeout | undefined;
  #stream: EventStream | undefined;

  constructor(response: ServerResponse, options: ReplyOptions) {
    this.#response = response;
    this.#options = options;
    this.#stream = options.resumed;
    if (options.takesStream && !options.resumed)
      this.#later = setTimeout(() => this.#startStream(), options.limits.streamAfterMs).unref();
    response.on("close", () => this.#onClose());
  }

  /**
   * Sends a message before the answer, unless the client accepts no streams. Calls `toEventId` only when it is sent.
   */
  report(line: string, toEventId?: () => string): void {
    if (!this.#options.takesStream || this.#response.destroyed) return;
    const stream = this.#stream ?? this.#startStream();
    stream.send(line, toEventId?.());
  }

  /** Sends the answer and ends the response. A stream has already sent its status. */
  finish(line: string, toEventId?: () => string, status = 200): void {
    clearTimeout(this.#later);
    if (this.#stream) {
      this.#stream.send(line, toEventId?.());
      this.#stream.end();
      // The answers of one turn are sent together: waking the reader for each takes longer than producing it.
    } else setImmediate(sendAnswer, this.#response, status, line, this.#options.headers);
  }

  /** Ends the response without an answer. */
  cut(): void {
    this.#response.end();
  }

  isFull(): boolean {
    return this.#response.writableNeedDrain;
  }

  /** The client has stopped reading. */
  isGone(): boolean {
    return this.#response.destroyed;
  }

  #startStream(): EventStream {
    clearTimeout(this.#later);
    const { limits, headers, onStream } = this.#options;
    const stream = createEventStream(this.#response, {
      keepAliveMs: limits.keepAliveMs,
      ...(headers && { headers }),
    });
    this.#stream = stream;
    onStream?.(stream);
    return stream;
  }

  #onClose(): void {
    clearTimeout(this.#later);
    if (!this.#response.writableFinished) this.#options.onBroken?.();
  }
}

function sendAnswer(
  response: ServerResponse,
  status: number,
  line: string,
  headers: ReplyOptions["headers"],
): void {
  if (!response.destroyed) sendJson(response, status, line, headers);
}
