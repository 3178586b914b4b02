import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Connections } from "@octant/http";
import { type ServerOptions, WebSocketServer } from "ws";
import type { Limits } from "../http/limits.ts";
import type { Service } from "../service.ts";
import { SUBPROTOCOL } from "./handshake.ts";
import { talkOver } from "./socket.ts";

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
