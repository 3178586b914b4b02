import type { ServerResponse } from "node:http";

export interface EventStreamOptions {
  readonly keepAliveMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  // Otherwise nginx buffers the events.
  "x-accel-buffering": "no",
};

/** A reader that took nothing during this many heartbeats is gone. */
const MAX_STALLED_SIGNS = 4;

export type EventStream = ReturnType<typeof createEventStream>;

/** Server-sent events on one response. */
export function createEventStream(response: ServerResponse, options: EventStreamOptions) {
  response.writeHead(200, { ...STREAM_HEADERS, ...options.headers });
  response.flushHeaders();
  let stalledSigns = 0;
  const keepAlive = setInterval(() => {
    stalledSigns = response.writableNeedDrain ? stalledSigns + 1 : 0;
    if (stalledSigns >= MAX_STALLED_SIGNS) response.destroy();
    else if (stalledSigns === 0) response.write(": keepalive\n\n");
  }, options.keepAliveMs).unref();
  response.once("close", () => clearInterval(keepAlive));

  /** Text in the protocol's form. */
  const raw = (text: string): void => {
    if (!response.writableEnded && !response.destroyed) response.write(text);
  };
  return {
    /** One event: a message, with an id from which a client can resume. */
    send: (line: string, id?: string) =>
      raw(`event: message\n${id === undefined ? "" : `id: ${id}\n`}data: ${line}\n\n`),
    /** An event without data, which gives the client an id to resume from and a retry time. */
    prime: (id: string, retryMs: number) => raw(`id: ${id}\nretry: ${retryMs}\ndata: \n\n`),
    raw,
    end: () => void response.end(),
    isFull: () => response.writableNeedDrain,
  };
}
