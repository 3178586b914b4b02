import type { IncomingMessage } from "node:http";

export const SOCKET_PATH = "/ws";
export const SUBPROTOCOL = "mcp";

/** Whether the client offers the MCP subprotocol. */
export const offersMcp = ({ headers }: IncomingMessage): boolean =>
  headers["sec-websocket-protocol"]?.split(",").some((name) => name.trim() === SUBPROTOCOL) ?? false;
