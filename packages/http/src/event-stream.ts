import type { ServerResponse } from "node:http";

/** Server-sent events on one response. */
export interface EventStream {
  /** One event: a message, with the id under which a client can resume after it. */
  send(line: string, id?: string): void;
  /** An event without data: it only gives the client an id to resume from, and when to come back. */
  prime(id: string, retryMs: number): void;
  /** Any other text, in the form of the protocol. */
  raw(text: string): void;
  end(): void;
  isFull(): boolean;
}

export interface EventStreamOptions {
  readonly keepAliveMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  // Else nginx collects the events instead of passing them on.
  "x-accel-buffering": "no",
};

/** A reader that took nothing between so many signs of life is gone. */
const MAX_STALLED_SIGNS = 4;

export function createEventStream(response: ServerResponse, options: EventStreamOptions): EventStream {
  response.writeHead(200, { ...STREAM_HEADERS, ...options.headers });
  response.flushHeaders();
  let stalledSigns = 0;
  const keepAlive = setInterval(() => {
    stalledSigns = response.writableNeedDrain ? stalledSigns + 1 : 0;
    if (stalledSigns >= MAX_STALLED_SIGNS) response.destroy();
    else if (stalledSigns === 0) response.write(": keepalive\n\n");
  }, options.keepAliveMs).unref();
  response.once("close", () => clearInterval(keepAlive));

  const raw = (text: string) => {
    if (!response.writableEnded && !response.destroyed) response.write(text);
  };
  return {
    send: (line, id) => raw(`event: message\n${id === undefined ? "" : `id: ${id}\n`}data: ${line}\n\n`),
    prime: (id, retryMs) => raw(`id: ${id}\nretry: ${retryMs}\ndata: \n\n`),
    raw,
    end: () => void response.end(),
    isFull: () => response.writableNeedDrain,
  };
}
