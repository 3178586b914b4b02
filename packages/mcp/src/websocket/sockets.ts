import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Connections } from "@octant/http";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";
import { createConnection, receiveText } from "../connection.ts";
import type { Limits } from "../http/limits.ts";
import { createLineQueue } from "../line-queue.ts";
import type { Outgoing } from "../messages.ts";
import type { Service } from "../service.ts";
import { SUBPROTOCOL } from "./handshake.ts";

/** A client that does not answer the close is terminated. */
const CLOSE_MS = 1_000;

/** The clients that are connected by WebSocket. */
export type Sockets = ReturnType<typeof createSockets>;

export function createSockets(limits: Limits, connections: Connections) {
  const open = new Set<ReturnType<typeof talkOver>>();
  // The types lack closeTimeout.
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    maxPayload: limits.maxBodyBytes,
    closeTimeout: CLOSE_MS,
    // Compression costs memory for every socket, and lets small frames grow large.
    perMessageDeflate: false,
    handleProtocols: () => SUBPROTOCOL,
  };
  const server = new WebSocketServer(options);
  return {
    accept(request: IncomingMessage, socket: Duplex, head: Buffer, service: Service): void {
      server.handleUpgrade(request, socket, head, (ws) => {
        const talk = talkOver(ws, service, limits);
        open.add(talk);
        connections.upgrade(socket, service.caller, talk.turnAway);
        ws.once("close", () => open.delete(talk));
      });
    },
    /** Stops reading. */
    pause(): void {
      for (const talk of open) talk.pause();
    },
    async close(): Promise<void> {
      await Promise.all([...open].map((talk) => talk.close()));
      server.close();
    },
  };
}

const UNSUPPORTED_DATA = 1003;
const POLICY_VIOLATION = 1008;
const GOING_AWAY = 1001;
/** Unread bytes to the client above which we stop reading from it. */
const HIGH_WATER_BYTES = 1024 * 1024;

/** Serves the client: one JSON-RPC message per text frame. */
function talkOver(ws: WebSocket, service: Service, limits: Limits) {
  const isFull = () => ws.bufferedAmount > HIGH_WATER_BYTES;
  const write = (message: Outgoing) => ws.send(JSON.stringify(message), onSent);
  const connection = createConnection(service, { write, isFull });
  let wasFull = false;
  let isPaused = false;
  const onSent = () => {
    if (isFull()) wasFull = true;
    else if (wasFull) {
      wasFull = false;
      connection.resume();
      messages.resume();
    }
  };
  const messages = createLineQueue({
    take(text) {
      receiveText(text, connection, write);
      if (isFull()) wasFull = true;
    },
    isHeld: isFull,
    onWaiting: () => ws.pause(),
    onEmpty: () => {
      if (!isPaused) ws.resume();
    },
  });

  const firstMessage = setTimeout(
    () => ws.close(POLICY_VIOLATION, "no message arrived"),
    limits.firstMessageMs,
  ).unref();
  let isAlive = true;
  const pings = setInterval(() => {
    if (!isAlive) return ws.terminate();
    isAlive = false;
    ws.ping();
  }, 2 * limits.keepAliveMs).unref();
  ws.on("pong", () => {
    isAlive = true;
  });
  ws.on("message", (data, isBinary) => {
    // Until the client has acknowledged the close.
    if (ws.readyState !== ws.OPEN) return;
    clearTimeout(firstMessage);
    isAlive = true;
    if (isBinary) return ws.close(UNSUPPORTED_DATA, "MCP is text");
    messages.push(data.toString());
  });
  // ws closes the connection with a reason for a broken frame; "close" follows.
  ws.on("error", (cause) => service.log(`websocket: ${cause.message}`));
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  ws.once("close", async () => {
    clearTimeout(firstMessage);
    clearInterval(pings);
    await messages.end();
    await connection.close();
    resolve();
  });
  const leave = (code: number, reason: string) => {
    // It must read the client's own close frame.
    ws.resume();
    ws.close(code, reason);
  };
  return {
    /** Stops reading. */
    pause(): void {
      isPaused = true;
      ws.pause();
    },
    /** The client may no longer call. */
    turnAway: () => leave(POLICY_VIOLATION, "the token is no longer valid"),
    close(): Promise<void> {
      leave(GOING_AWAY, "the server is shutting down");
      return closed;
    },
  };
}
