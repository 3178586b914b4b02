import type { IncomingMessage } from "node:http";

export const SOCKET_PATH = "/ws";
export const SUBPROTOCOL = "mcp";

/** Whether the client offers to speak MCP on the socket. */
export const offersMcp = ({ headers }: IncomingMessage): boolean =>
  headers["sec-websocket-protocol"]?.split(",").some((name) => name.trim() === SUBPROTOCOL) ?? false;
