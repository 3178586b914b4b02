import type { Readable, Writable } from "node:stream";
import { createLineSplitter } from "@octant/core";
import { createConnection, receiveText } from "./connection.ts";
import { type AnsweredHandshake, type HandshakeResults, toHandshakeResults } from "./handshake.ts";
import { createLineQueue } from "./line-queue.ts";
import { INVALID_REQUEST, idAtEdges, type Outgoing, toErrorMessage } from "./messages.ts";
import { createService, type ServiceOptions } from "./service.ts";

/** One message may contain a large file to write; nothing reasonable is larger. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

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
  let isClosing = false;
  let isGone = false;
  let unsent = "";

  const send = () => {
    const text = unsent;
    unsent = "";
    // A client that does not read its answers gets no more until it does.
    if (!isGone && text !== "" && !output.write(text)) input.pause();
  };
  const write = (message: Outgoing) => {
    // nextTick runs after the promises of this turn, so answers that are ready together are sent together.
    if (unsent === "") process.nextTick(send);
    // V8 joins concatenated strings once, when they are written.
    unsent += `${JSON.stringify(message)}\n`;
  };
  const isFull = () => output.writableNeedDrain && !isGone;
  const connection = createConnection(service, { write, isFull }, handshake?.answered);
  const lines = createLineQueue({
    take: (line) => receiveText(line, connection, write),
    isHeld: isFull,
    onWaiting: () => input.pause(),
    onEmpty: () => input.resume(),
  });
  const onTooLong = (edges: string) => {
    const message = `Invalid Request: a message may have ${MAX_LINE_BYTES} bytes`;
    write(toErrorMessage(idAtEdges(edges), { code: INVALID_REQUEST, message }));
  };
  const feed = createLineSplitter({ onLine: lines.push, onTooLong }, MAX_LINE_BYTES);

  const close = () => {
    if (!isClosing) {
      isClosing = true;
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
    await flush();
  };
  /** Resolves when everything was written, the client has left, or it stopped reading. */
  const flush = async () => {
    send();
    if (isGone || output.writableLength === 0) return;
    const { promise, resolve: done } = Promise.withResolvers<void>();
    const timer = setTimeout(done, FLUSH_MS);
    output.once("close", done);
    output.write("", () => done());
    await promise;
    clearTimeout(timer);
  };
  const leave = () => {
    isGone = true;
    void close();
  };
  // These stay for the stream's lifetime: a late EPIPE without a listener would crash the process.
  output.on("error", leave);
  output.on("close", leave);
  output.on("drain", () => {
    if (isClosing) return;
    connection.resume();
    lines.resume();
  });
  input.on("data", feed);
  // The handshake cache may have paused it.
  input.resume();
  for (const event of ["end", "close", "error"]) input.on(event, close);
  if (input.readableEnded || input.destroyed) close();
  return { closed, close, handshakeResults: () => toHandshakeResults(service) };
}
