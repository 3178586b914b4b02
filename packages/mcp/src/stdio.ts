import type { Readable, Writable } from "node:stream";
import { createConversation } from "./direct.ts";
import { createLineSplitter, MAX_LINE_BYTES } from "./framing.ts";
import { parseJson } from "./json.ts";
import { createLineQueue } from "./line-queue.ts";
import { createLineWriter } from "./line-writer.ts";
import { errorLine, INVALID_REQUEST, PARSE_ERROR, type RequestId } from "./messages.ts";
import { type Opened, type Opening, toOpening } from "./opening.ts";
import { createResults } from "./results.ts";
import { createService, type ServiceOptions } from "./service.ts";

/** How long a reader that stopped reading may hold up the end. */
const FLUSH_MS = 500;

export interface StdioOptions extends ServiceOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** How the client was answered before this server was there. */
  readonly opened?: Pick<Opened, "answered"> & Partial<Pick<Opened, "offers">>;
}

export interface StdioServer {
  /** Resolves when the client has gone, or `close` was called, and the last answer has left. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
  /** The answers to first questions, for the next start. */
  opening(): Opening;
}

/** Serves one client over a pair of streams, one JSON-RPC message a line. */
export function serveStdio({ input, output, opened, ...options }: StdioOptions): StdioServer {
  const service = createService({ ...options, ...(opened?.offers && { offers: opened.offers }) });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let closing = false;
  const writer = createLineWriter(output, {
    // A client that does not read its answers gets no further ones until it does.
    onFull: () => input.pause(),
    onDrain: () => {
      if (closing) return;
      conversation.resume();
      lines.resume();
    },
    onGone: () => close(),
  });
  let replays = true;
  const conversation = createConversation(service, {
    write: (line) => {
      if (!replays) writer.write(line);
    },
    isFull: writer.isFull,
  });
  for (const message of opened?.answered ?? []) conversation.receive(message);
  replays = false;
  const refuse = (reason: string) => writer.write(errorLine(null, PARSE_ERROR, `Parse error: ${reason}`));
  const refuseLarge = (id: RequestId | null) =>
    writer.write(
      errorLine(id, INVALID_REQUEST, `Invalid Request: a message may have ${MAX_LINE_BYTES} bytes`),
    );
  const lines = createLineQueue({
    take(line) {
      let value: unknown;
      try {
        value = parseJson(line);
      } catch (cause) {
        return refuse(cause instanceof Error ? cause.message : "not JSON");
      }
      conversation.receive(value);
    },
    isHeld: writer.isFull,
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
    await conversation.close();
    service.close();
    await writer.flush(FLUSH_MS);
  };
  input.on("data", feed);
  // Whoever answered before us has paused it.
  input.resume();
  for (const event of ["end", "close", "error"]) input.on(event, close);
  if (input.readableEnded || input.destroyed) close();
  return { closed, close, opening: () => toOpening(createResults(service), service.listing()) };
}
