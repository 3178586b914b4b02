import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Connections } from "../access/connections.ts";
import { type Gate, isRefusal } from "../access/gate.ts";
import type { Callers } from "../http/callers.ts";
import type { Limits } from "../http/limits.ts";
import { offersMcp, SOCKET_PATH } from "./handshake.ts";
import type { Sockets } from "./sockets.ts";

/** Requests to turn a connection into a WebSocket. */
export interface Upgrades {
  receive(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Reads nothing more. */
  pause(): void;
  close(): Promise<void>;
}

interface Refused {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface UpgradeOptions {
  readonly gate: Gate;
  readonly callers: Callers;
  readonly connections: Connections;
  readonly limits: Limits;
  readonly log: (line: string) => void;
}

export function createUpgrades({ gate, callers, connections, limits, log }: UpgradeOptions): Upgrades {
  let loading: Promise<Sockets> | undefined;
  let ending = false;
  const load = async () => {
    const { createSockets } = await import("./sockets.ts");
    return createSockets(limits, connections);
  };
  const admit = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (ending) return turnAway(socket, ENDING);
    const refusal = gate.checkHost(request);
    if (refusal) return turnAway(socket, refusal);
    const who = await gate.identify(request);
    if (isRefusal(who)) return turnAway(socket, who);
    if (request.url?.split("?")[0] !== SOCKET_PATH) return turnAway(socket, NOT_HERE);
    if (!offersMcp(request)) return turnAway(socket, NO_SUBPROTOCOL);
    loading ??= load();
    (await loading).accept(request, socket, head, callers.get(who).service);
  };
  return {
    receive(request, socket, head) {
      // A peer that resets the connection now must not end the process.
      socket.on("error", (cause) => log(`websocket: ${cause.message}`));
      admit(request, socket, head).catch((cause) => {
        log(`websocket: could not be opened: ${cause}`);
        socket.destroy();
      });
    },
    pause() {
      ending = true;
      void loading?.then((sockets) => sockets.pause());
    },
    async close() {
      await (await loading)?.close();
    },
  };
}

function turnAway(socket: Duplex, { status, message, headers }: Refused): void {
  const fields = { "content-type": "text/plain", "content-length": Buffer.byteLength(message), ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\n${lines.join("")}\r\n${message}`,
  );
  // Not all peers close their side.
  socket.once("finish", () => socket.destroy());
}

const ENDING: Refused = { status: 503, message: "the server is ending", headers: { "retry-after": "5" } };
const NOT_HERE: Refused = { status: 404, message: `WebSocket is at ${SOCKET_PATH}` };
const NO_SUBPROTOCOL: Refused = { status: 400, message: "offer the subprotocol 'mcp'" };
