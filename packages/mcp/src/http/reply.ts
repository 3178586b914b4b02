import type { ServerResponse } from "node:http";
import { createEventStream, type EventStream, sendJson } from "@octant/http";
import type { Limits } from "./limits.ts";

/** The response to one posted request: plain JSON, or a stream of events once there is more to say than the answer. */
export interface Reply {
  /** A message before the answer. Left out for a client that takes no streams. Asks for the id when it is sent. */
  report(line: string, toEventId?: () => string): void;
  /** The answer; it ends the response. A stream has sent its status before. */
  finish(line: string, toEventId?: () => string, status?: number): void;
  /** Ends the response without an answer. */
  cut(): void;
  isFull(): boolean;
  /** The client reads no more. */
  isGone(): boolean;
}

export interface ReplyOptions {
  readonly limits: Pick<Limits, "keepAliveMs" | "streamAfterMs">;
  readonly takesStream: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** The first thing on a stream. */
  readonly onStream?: (stream: EventStream) => void;
  /** The connection was closed before the answer had left. */
  readonly onBroken?: () => void;
}

export const createReply = (response: ServerResponse, options: ReplyOptions): Reply =>
  new PostReply(response, options);

/** A class, for there is one to every request, and most are answered at once: methods cost nothing, closures do. */
class PostReply implements Reply {
  readonly #response: ServerResponse;
  readonly #options: ReplyOptions;
  readonly #later: NodeJS.Timeout | undefined;
  #stream: EventStream | undefined;

  constructor(response: ServerResponse, options: ReplyOptions) {
    this.#response = response;
    this.#options = options;
    if (options.takesStream)
      this.#later = setTimeout(() => this.#startStream(), options.limits.streamAfterMs).unref();
    response.on("close", () => this.#onClose());
  }

  report(line: string, toEventId?: () => string): void {
    if (!this.#options.takesStream || this.#response.destroyed) return;
    const stream = this.#stream ?? this.#startStream();
    stream.send(line, toEventId?.());
  }

  finish(line: string, toEventId?: () => string, status = 200): void {
    clearTimeout(this.#later);
    if (this.#stream) {
      this.#stream.send(line, toEventId?.());
      this.#stream.end();
      // The answers of one turn leave together: to wake the reader for each of them takes longer than to make it.
    } else setImmediate(sendAnswer, this.#response, status, line, this.#options.headers);
  }

  cut(): void {
    this.#response.end();
  }

  isFull(): boolean {
    return this.#response.writableNeedDrain;
  }

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
