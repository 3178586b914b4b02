import type { Readable, Writable } from "node:stream";
import { createConnection } from "./connection.ts";
import type { AnsweredHandshake, HandshakeResults } from "./handshake.ts";
import { toHandshakeResults } from "./handshake-results.ts";
import { createLineWriter } from "./line-writer.ts";
import { createLineQueue, createLineSplitter, MAX_LINE_BYTES } from "./lines.ts";
import {
  INVALID_REQUEST,
  type Outgoing,
  PARSE_ERROR,
  parseJson,
  type RequestId,
  toErrorMessage,
} from "./messages.ts";
import { createService, type ServiceOptions } from "./service.ts";

/** How long a reader that stopped reading may delay the end. */
const FLUSH_MS = 500;

export interface StdioOptions extends ServiceOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** The part of the handshake that was answered before this server was loaded. */
  readonly handshake?: Pick<AnsweredHandshake, "answered"> & Partial<Pick<AnsweredHandshake, "offers">>;
}

export interface StdioServer {
  /** Resolves when the client has disconnected, or `close` was called, and the last answer was sent. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
  /** For the cache of the next start. */
  handshakeResults(): HandshakeResults;
}

/** Serves one client over a pair of streams, one JSON-RPC message per line. */
export function serveStdio({ input, output, handshake, ...options }: StdioOptions): StdioServer {
  const service = createService({ ...options, ...(handshake?.offers && { offers: handshake.offers }) });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let closing = false;
  let full = false;
  const writer = createLineWriter(output, {
    // A client that does not read its answers gets no more until it does.
    onFull: () => {
      full = true;
      input.pause();
    },
    onDrain: () => {
      full = false;
      if (closing) return;
      connection.resume();
      lines.resume();
    },
    onGone: () => {
      full = false;
      void close();
    },
  });
  const isFull = () => full;
  const write = (message: Outgoing) => writer.write(JSON.stringify(message));
  const connection = createConnection(service, { write, isFull }, { answered: handshake?.answered ?? [] });
  const refuse = (reason: string) =>
    write(toErrorMessage(null, { code: PARSE_ERROR, message: `Parse error: ${reason}` }));
  const refuseLarge = (id: RequestId | null) =>
    write(
      toErrorMessage(id, {
        code: INVALID_REQUEST,
        message: `Invalid Request: a message may have ${MAX_LINE_BYTES} bytes`,
      }),
    );
  const lines = createLineQueue({
    take(line) {
      let value: unknown;
      try {
        value = parseJson(line);
      } catch (cause) {
        return refuse(cause instanceof Error ? cause.message : "not JSON");
      }
      connection.receive(value);
    },
    isHeld: isFull,
    onWaiting: () => input.pause(),
    onEmpty: () => input.resume(),
  });
  const split = createLineSplitter({
    onLine: lines.push,
    onTooLong: refuseLarge,
  });
  const feed = (chunk: Buffer) => {
    lines.startTurn();
    split(chunk);
  };

  const close = () => {
    if (!closing) {
      closing = true;
      end().then(resolve);
    }
    return closed;
  };
  const end = async () => {
    input.off("data", feed);
    input.pause();
    await lines.end();
    await connection.close();
    service.close();
    await writer.flush(FLUSH_MS);
  };
  input.on("data", feed);
  // The handshake cache may have paused it.
  input.resume();
  for (const event of ["end", "close", "error"]) input.on(event, close);
  if (input.readableEnded || input.destroyed) close();
  return { closed, close, handshakeResults: () => toHandshakeResults(service) };
}
