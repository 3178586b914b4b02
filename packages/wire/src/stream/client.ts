import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ToolError } from "@octant/core";
import { type Link, type LinkEvents, WireClient, type WireClientOptions } from "../hoot01/client.ts";
import { encodeMessage, readMessages } from "./messages.ts";

/** A connection to a server: the stdout and stdin of a program that runs it, or a socket. */
export interface ServerStreams {
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: Writable;
  /** Why the connection ended, as far as that is known; read after the input has ended. */
  reason(): string | Promise<string>;
  close(): void;
}

export interface StreamClientOptions extends Omit<WireClientOptions, "keys"> {
  /** Called for the first connection, and again whenever one was lost. */
  open(): ServerStreams | Promise<ServerStreams>;
}

/** A program may take some seconds to start, and a stream itself reports most losses. */
const HEARTBEAT_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

/** Calls a server at the other end of a pair of byte streams. */
export const createStreamClient = ({ open, ...options }: StreamClientOptions): WireClient =>
  new WireClient({
    heartbeatMs: HEARTBEAT_MS,
    ...options,
    connect: (events) => createLink(open, events),
    explainSilence: () => "the server at the other end of the stream is silent",
  });

/** What `open` says itself reaches the callers as it is. */
async function whyUnreached(
  problem: unknown,
  streams: ServerStreams | undefined,
): Promise<string | ToolError> {
  if (problem instanceof ToolError && !streams) return problem;
  return [Object(problem).message, await streams?.reason()].filter(Boolean).join("; ");
}

function createLink(open: StreamClientOptions["open"], events: LinkEvents): Link {
  const closing = new AbortController();
  const { signal } = closing;
  let streams: ServerStreams | undefined;
  /** Messages that wait for the first connection; on later ones the client sends its requests again. */
  let early: Uint8Array[] | undefined = [];
  const close = () => {
    streams?.close();
    streams = undefined;
  };
  const read = async function* () {
    for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
      let isHeard = false;
      let problem: unknown;
      let now: ServerStreams | undefined;
      try {
        now = await open();
        streams = now;
        // Writing to a server that is gone is normal; reading ends too.
        now.output.on("error", () => {});
        for (const message of early ?? []) now.output.write(message);
        early = undefined;
        queueMicrotask(events.connected);
        for await (const frames of readMessages(now.input)) {
          isHeard = true;
          pause = FIRST_PAUSE_MS;
          yield frames;
        }
      } catch (cause) {
        problem = cause;
      }
      close();
      const reason = isHeard ? undefined : await whyUnreached(problem, now);
      if (signal.aborted) return now?.close();
      // Their requests fail now.
      if (early) early = [];
      events.disconnected(reason);
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  };
  return {
    isOpening: () => streams === undefined,
    [Symbol.asyncIterator]: read,
    send(frames) {
      const message = encodeMessage(frames);
      if (streams) streams.output.write(message);
      else early?.push(message);
    },
    close() {
      closing.abort();
      close();
    },
  };
}
