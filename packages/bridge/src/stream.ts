import { randomBytes } from "node:crypto";
import { createTopic } from "@octant/core";
import type { RateLimit } from "@octant/http";
import type { WebSocket } from "ws";
import type { BridgeEndpoint, BridgeLimits } from "./mount.ts";
import type { Identity } from "./token.ts";

/** Why the bridge closes a connection; docs/bridge.md says what a client should do. */
export const CLOSE = {
  GOING_AWAY: 1001,
  BINARY: 1003,
  /** The token expired; reconnect with a new one. */
  EXPIRED: 4401,
  /** The stream is open on another connection. */
  TAKEN_OVER: 4409,
  /** The stream is unknown, or frames after the given one are no longer available. */
  GONE: 4410,
  /** The client read too slowly, or stopped answering pings. */
  TOO_SLOW: 4413,
} as const;

/** A conversation with its frames, on one connection after another. */
export interface BridgeStream {
  readonly id: string;
  readonly identity: Identity;
  /**
   * Continues on this connection after the first `after` frames; false when some of the rest are no longer available.
   */
  attach(ws: WebSocket, identity: Identity, after: number): boolean;
  close(code: number, reason: string): Promise<void>;
}

export interface StreamOptions {
  readonly identity: Identity;
  readonly endpoint: BridgeEndpoint;
  readonly limits: BridgeLimits;
  /** Frames per second of each owner. */
  readonly rate: RateLimit;
  readonly onClosed: (stream: BridgeStream) => void;
}

const ID_BYTES = 16;
const RETRY_MS = 50;

export function createBridgeStream(options: StreamOptions): BridgeStream {
  const { identity, endpoint, limits, rate, onClosed } = options;
  const id = `stream_${randomBytes(ID_BYTES).toString("hex")}`;
  /** The last frames, so that a client that reconnects misses none. */
  const frames = createTopic<string>({
    maxEvents: limits.maxLogFrames,
    maxBytes: limits.maxKeptChars,
    sizeOf: (frame) => frame.length,
  });
  let ws: WebSocket | undefined;
  let wasFull = false;
  let isClosed = false;
  let leaving: NodeJS.Timeout | undefined;

  const isFull = () => (ws?.bufferedAmount ?? 0) > limits.highWaterBytes;
  const onSent = () => {
    if (!wasFull || isFull()) return;
    wasFull = false;
    conversation.resume();
    ws?.resume();
  };
  const send = (frame: string) => {
    if (!ws || ws.readyState !== ws.OPEN) return;
    ws.send(frame, onSent);
    if (ws.bufferedAmount > limits.maxWaitingBytes) ws.close(CLOSE.TOO_SLOW, "the client reads too slowly");
    else if (isFull()) {
      wasFull = true;
      ws.pause();
    }
  };
  const conversation = endpoint.open(identity, {
    write(frame) {
      frames.publish(frame);
      send(frame);
    },
    isFull,
  });
  /** Frames beyond the owner's rate wait here, and no more are read meanwhile. */
  const waiting: string[] = [];
  const takeNext = () => {
    while (waiting.length > 0 && !isClosed) {
      if (!rate.take(identity.callerId)) return void setTimeout(takeNext, RETRY_MS).unref();
      conversation.receive(waiting.shift() ?? "");
    }
    if (!isFull()) ws?.resume();
  };
  const receive = (text: string) => {
    waiting.push(text);
    if (waiting.length > 1) return ws?.pause();
    takeNext();
  };
  const close = async (code: number, reason: string) => {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(leaving);
    onClosed(stream);
    ws?.resume();
    ws?.close(code, reason);
    await conversation.close();
  };
  const leave = (gone: WebSocket) => {
    if (ws !== gone) return;
    ws = undefined;
    if (isClosed) return;
    // Unsent frames are in the log, so the outlet is no longer full.
    if (wasFull) {
      wasFull = false;
      conversation.resume();
    }
    leaving = setTimeout(() => void close(CLOSE.GONE, "the client did not reconnect"), limits.reconnectMs);
    leaving.unref();
  };

  const stream: BridgeStream = {
    id,
    identity,
    attach(next, now, after) {
      const missed = frames.read(after + 1);
      if (isClosed || missed.dropped > 0 || missed.restarted) return false;
      clearTimeout(leaving);
      const before = ws;
      ws = next;
      before?.resume();
      before?.close(CLOSE.TAKEN_OVER, "the stream continues on another connection");
      listen(next, now, { receive, leave, pingMs: limits.pingMs });
      const { owner } = now;
      const params = { stream: id, owner, frames: after, resumed: frames.nextSeq > 1 };
      next.send(JSON.stringify({ jsonrpc: "2.0", method: "bridge/ready", params }));
      for (const { value } of missed.events) send(value);
      return true;
    },
    close,
  };
  return stream;
}

interface Listening {
  receive(text: string): void;
  leave(ws: WebSocket): void;
  readonly pingMs: number;
}

/** The maximum of setTimeout. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function listen(ws: WebSocket, { expiresMs }: Identity, { receive, leave, pingMs }: Listening): void {
  let isAlive = true;
  const pings = setInterval(() => {
    if (!isAlive) return ws.terminate();
    isAlive = false;
    ws.ping();
  }, pingMs).unref();
  const expiry = setTimeout(
    () => ws.close(CLOSE.EXPIRED, "the token has expired"),
    Math.min(Math.max(expiresMs - Date.now(), 0), MAX_TIMER_MS),
  ).unref();
  ws.on("pong", () => {
    isAlive = true;
  });
  ws.on("message", (data, isBinary) => {
    if (ws.readyState !== ws.OPEN) return;
    isAlive = true;
    if (isBinary) return ws.close(CLOSE.BINARY, "frames are text");
    receive(data.toString());
  });
  ws.on("error", () => {
    // ws has closed the connection with the reason; "close" follows.
  });
  ws.once("close", () => {
    clearInterval(pings);
    clearTimeout(expiry);
    leave(ws);
  });
}
