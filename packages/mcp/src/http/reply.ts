import type { ServerResponse } from "node:http";
import { createEventStream, type EventStream } from "./event-stream.ts";
import type { Limits } from "./limits.ts";

/** The response to one posted request: plain JSON, or a stream of events once there is more to say than the answer. */
export interface Reply {
  /** Something before the answer. Left out for a client that takes no streams. Asks for the id when it is sent. */
  tell(line: string, toEventId?: () => string): void;
  /** The answer; it ends the response. */
  finish(line: string, toEventId?: () => string): void;
  /** Ends the response without an answer. */
  cut(): void;
  readonly full: boolean;
  /** The client reads no more. */
  readonly isGone: boolean;
}

export interface ReplyOptions {
  readonly limits: Pick<Limits, "keepAliveMs" | "streamAfterMs">;
  readonly takesStream: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** The first thing on a stream. */
  readonly onStream?: (stream: EventStream) => void;
}

/** Time for a client to read its answer. */
const MAX_READING_MS = 60_000;

export function createReply(response: ServerResponse, options: ReplyOptions): Reply {
  const { limits, takesStream, headers, onStream } = options;
  let stream: EventStream | undefined;
  const startStream = () => {
    clearTimeout(later);
    stream = createEventStream(response, { keepAliveMs: limits.keepAliveMs, ...(headers && { headers }) });
    onStream?.(stream);
    return stream;
  };
  const later = takesStream ? setTimeout(startStream, limits.streamAfterMs).unref() : undefined;
  response.once("close", () => clearTimeout(later));
  return {
    tell(line, toEventId) {
      if (!takesStream || response.destroyed) return;
      const open = stream ?? startStream();
      open.send(line, toEventId?.());
    },
    finish(line, toEventId) {
      clearTimeout(later);
      if (stream) {
        stream.send(line, toEventId?.());
        stream.end();
      } else if (!response.destroyed) sendJson(response, 200, line, headers);
    },
    cut: () => void response.end(),
    get full() {
      return response.writableNeedDrain;
    },
    get isGone() {
      return response.destroyed;
    },
  };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  json: string,
  headers?: Readonly<Record<string, string>>,
): void {
  const length = Buffer.byteLength(json);
  response.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers });
  // What is all ASCII is written much faster so.
  response.end(json, length === json.length ? "latin1" : "utf8");
  if (response.writableLength > 0) response.setTimeout(MAX_READING_MS, () => response.destroy());
}
