import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Connections } from "@octant/http";
import { type ServerOptions, WebSocketServer } from "ws";
import type { Limits } from "../http/limits.ts";
import type { Service } from "../service.ts";
import { SUBPROTOCOL } from "./handshake.ts";
import { type SocketConversation, talkOver } from "./socket.ts";

/** The clients that are connected by WebSocket. */
export interface Sockets {
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, service: Service): void;
  /** Stops reading. */
  pause(): void;
  close(): Promise<void>;
}

/** A client that does not answer the close is terminated. */
const CLOSE_MS = 1_000;

export function createSockets(limits: Limits, connections: Connections): Sockets {
  const open = new Set<SocketConversation>();
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
    accept(request, socket, head, service) {
      server.handleUpgrade(request, socket, head, (ws) => {
        const talk = talkOver(ws, service, limits);
        open.add(talk);
        connections.upgrade(socket, service.caller, talk.turnAway);
        ws.once("close", () => open.delete(talk));
      });
    },
    pause() {
      for (const talk of open) talk.pause();
    },
    async close() {
      await Promise.all([...open].map((talk) => talk.close()));
      server.close();
    },
  };
}
