import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";

export interface TestServer {
  readonly port: number;
  /** `http://127.0.0.1:port` or the https form with the name localhost. */
  readonly origin: string;
  /** The number of connections made and currently open. */
  readonly connections: { made: number; open: number };
  close(): Promise<void>;
}

export interface TestServerOptions {
  readonly host?: string;
  readonly port?: number;
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A real server on this machine. */
export async function startTestServer(
  listener: RequestListener,
  { host = "127.0.0.1", port = 0, tls }: TestServerOptions = {},
): Promise<TestServer> {
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  const origin = (at: number) =>
    tls ? `https://localhost:${at}` : `http://${host.includes(":") ? `[${host}]` : host}:${at}`;
  return listen(server, host, port, origin, () => server.closeAllConnections());
}

export async function listen(
  server: Server,
  host: string,
  port: number,
  toOrigin: (port: number) => string,
  closeAll: () => void,
): Promise<TestServer> {
  const connections = { made: 0, open: 0 };
  server.on("connection", (socket: Socket) => {
    connections.made++;
    connections.open++;
    socket.on("close", () => connections.open--);
  });
  server.listen(port, host);
  await once(server, "listening");
  // It listens on TCP.
  const { port: taken } = server.address() as AddressInfo;
  return {
    port: taken,
    origin: toOrigin(taken),
    connections,
    async close() {
      closeAll();
      server.close();
      await once(server, "close");
    },
  };
}
