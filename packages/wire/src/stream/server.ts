import type { Readable, Writable } from "node:stream";
import { ToolError } from "@octant/core";
import { MessageServer, type MessageServerOptions } from "../hoot01/message-server.ts";
import { encodeMessage, readMessages } from "./messages.ts";

export interface StreamServerOptions extends MessageServerOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly heartbeatMs?: number;
  readonly log: (line: string) => void;
}

export interface StreamServer {
  /** Resolves when the client has left. */
  readonly closed: Promise<void>;
  close(): void;
}

/** A stream ends when its client does, so silence is rarely needed to notice that. */
const HEARTBEAT_MS = 10_000;
/** Stands where a ROUTER has the identity of a peer. */
const PEER = Buffer.from("peer");

/** Serves the dispatcher to the client at the other end of a pair of byte streams, such as stdin and stdout. */
export function serveStream(options: StreamServerOptions): StreamServer {
  const { input, output, heartbeatMs = HEARTBEAT_MS, log } = options;
  const messages = async function* () {
    for await (const frames of readMessages(input)) yield [PEER, ...frames];
  };
  const send = createWriter(output);
  const server = new MessageServer(
    options,
    { [Symbol.asyncIterator]: messages, send: ([, ...frames]) => send(encodeMessage(frames)) },
    undefined,
    heartbeatMs,
  );
  const closed = server
    .run()
    // A client that was killed ends its stream with an error.
    .catch((cause: unknown) => log(`the client's stream ended: ${Object(cause).message}`))
    .finally(() => server.close());
  return { closed, close: () => void input.destroy() };
}

/** Writes in order; resolves when the stream takes more, and rejects once it is closed. */
function createWriter(output: Writable) {
  let drained = Promise.withResolvers<void>();
  output.on("drain", () => drained.resolve());
  output.once("close", () => drained.resolve());
  // Writing to a client that is gone is normal; reading ends too.
  output.on("error", () => drained.resolve());
  return async (bytes: Uint8Array): Promise<void> => {
    if (!output.writable) throw new ToolError("UPSTREAM_ERROR", "the client is gone", {});
    drained = output.writableNeedDrain ? drained : Promise.withResolvers();
    if (!output.write(bytes)) await drained.promise;
  };
}
