import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { HttpRefusal } from "./refusals.ts";

/** Answers a request for a WebSocket with an HTTP error and closes the connection. */
export function refuseUpgrade(socket: Duplex, { status, message, headers }: HttpRefusal): void {
  const fields = { "content-type": "text/plain", "content-length": Buffer.byteLength(message), ...headers };
  const lines = Object.entries({ ...fields, connection: "close" }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${message}`);
  // Some peers never close their side.
  socket.once("finish", () => socket.destroy());
}
