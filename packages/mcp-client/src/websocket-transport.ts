import { once } from "node:events";
import type { Transport } from "@modelcontextprotocol/client";
import { WebSocket } from "ws";
import { MAX_MESSAGE_BYTES, parseMessage, TOO_LARGE } from "./stdio-transport.ts";

const SUBPROTOCOL = "mcp";
const MAX_OPENING_MS = 30_000;

/** One message per text frame, like our own server. */
export function createWebSocketTransport(url: URL, headers: Readonly<Record<string, string>>) {
  let socket: WebSocket | undefined;
  let problem: string | undefined;
  const transport: Transport = {
    async start() {
      socket = new WebSocket(url, SUBPROTOCOL, {
        headers,
        maxPayload: MAX_MESSAGE_BYTES,
        handshakeTimeout: MAX_OPENING_MS,
        // A token in the headers is for this server only.
        followRedirects: false,
      });
      socket.on("message", (data, isBinary) => {
        if (isBinary) return transport.onerror?.(new Error("the server sent a binary frame"));
        const message = parseMessage(String(data));
        if (message) transport.onmessage?.(message);
        else transport.onerror?.(new Error("the server sent a frame that is not a JSON-RPC message"));
      });
      socket.on("close", () => transport.onclose?.());
      await once(socket, "open");
      // Later errors end in a close event; without a listener one would crash the process.
      socket.on("error", (cause) => {
        problem = Object(cause).code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH" ? TOO_LARGE : cause.message;
        transport.onerror?.(cause);
      });
    },
    send: (message) =>
      new Promise((resolve, reject) => {
        if (socket?.readyState !== WebSocket.OPEN) return reject(new Error("the connection is closed"));
        socket.send(JSON.stringify(message), (cause) => (cause ? reject(cause) : resolve()));
      }),
    async close() {
      if (!socket || socket.readyState === WebSocket.CLOSED) return;
      const closed = once(socket, "close");
      socket.close();
      const timer = setTimeout(() => socket?.terminate(), MAX_CLOSING_MS);
      await closed;
      clearTimeout(timer);
    },
  };
  return { transport, problem: () => problem };
}

const MAX_CLOSING_MS = 1_000;
