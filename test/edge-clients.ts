import {
  Client,
  type JSONRPCMessage,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as OldSse } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { createZmqClient, type NatsClient, type WireClient } from "@octant/wire";
import { expect } from "vitest";
import { WebSocket } from "ws";
import { createRemoteFollowing } from "../packages/app/src/edge/remote-features.ts";
import { LAUNCHER } from "./published-command.ts";

/** The client interface that the suites need; both SDKs provide it, in every era. */
export interface AnyClient {
  listTools(): Promise<{ tools: readonly { readonly name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  /** Calls back with the uri of each change; resolves with a function that ends it. */
  subscribe(uris: readonly string[], onUpdated: (uri: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** The address of the server, once it is known. */
export interface EdgePlaces {
  stdio(): { readonly cwd: string; readonly home: string };
  http(): { readonly url: string; readonly headers: Record<string, string> };
  /** The address of a ZeroMQ server, when the suite has one. */
  zmq?(): string;
  /** A client of a NATS server with a worker, when the suite has one. */
  nats?(): Promise<NatsClient>;
}

/** Every edge, with the official clients of both SDKs. */
export function createEdgeClients({
  stdio,
  http,
  zmq,
  nats,
}: EdgePlaces): Readonly<Record<string, () => Promise<AnyClient>>> {
  const command = (args = ["serve"]) => ({
    command: process.execPath,
    args: [LAUNCHER, ...args],
    cwd: stdio().cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: stdio().home },
  });
  const at = (path: string) => new URL(path, http().url);
  const given = () => ({ requestInit: { headers: http().headers } });
  const socketUrl = () => at("/ws").href.replace("http", "ws");
  const socket = () => {
    const { headers } = http();
    return new SocketTransport(new WebSocket(socketUrl(), "mcp", { headers, allowSynchronousEvents: false }));
  };
  return {
    "stdio, 2026-07-28": () => connect("auto", new StdioClientTransport(command())),
    "stdio, handshake": () => connect("legacy", new StdioClientTransport(command())),
    "stdio, SDK 1.x": () => connectOld(new OldStdio(command())),
    "HTTP, 2026-07-28": () => connect("auto", new StreamableHTTPClientTransport(at("/mcp"), given())),
    "HTTP, handshake": () => connect("legacy", new StreamableHTTPClientTransport(at("/mcp"), given())),
    // Its types ignore exactOptionalPropertyTypes.
    "HTTP, SDK 1.x": () => connectOld(new OldHttp(at("/mcp"), given()) as never),
    "SSE, handshake": () => connect("legacy", new SSEClientTransport(at("/sse"), given())),
    "SSE, SDK 1.x": () => connectOld(new OldSse(at("/sse"), given()) as never),
    "WebSocket, 2026-07-28": () => connect("auto", socket()),
    "WebSocket, handshake": () => connect("legacy", socket()),
    "WebSocket, SDK 1.x": () => openOldSocket(socketUrl(), http().headers),
    ...(zmq && {
      ZeroMQ: async () => openWire(createZmqClient({ address: zmq() })),
      "octant edge over ZeroMQ": () =>
        connect("auto", new StdioClientTransport(command(["edge", "--via", zmq()]))),
    }),
    ...(nats && { NATS: async () => openWire(await nats()) }),
  };
}

/** A client of the typed wire, which has neither JSON nor MCP: an unknown tool is refused like in MCP. */
function openWire(client: Pick<WireClient | NatsClient, "ready" | "dispatch" | "close">): AnyClient {
  const caller = { id: "local", access: "admin" } as const;
  return {
    listTools: async () => ({ tools: (await client.ready()).tools.map((name) => ({ name })) }),
    async callTool({ name: tool, arguments: { action, ...input } }) {
      const { envelope } = await client.dispatch({ tool, action, input }, { caller });
      if (envelope.error?.code === "UNKNOWN_TOOL") throw { code: -32602 };
      return { structuredContent: envelope, isError: !envelope.ok };
    },
    async subscribe(uris, onUpdated) {
      const { signal } = new AbortController();
      const { subscribe } = createRemoteFollowing(client.dispatch);
      const stops = await Promise.all(
        uris.map((uri) => subscribe(uri, () => onUpdated(uri), { caller, signal })),
      );
      return async () => {
        for (const stop of stops) stop?.();
      };
    },
    close: async () => void (await client.close()),
  };
}

const CLIENT = { name: "edges", version: "1" };

async function connect(mode: "auto" | "legacy", transport: Transport): Promise<AnyClient> {
  const client = new Client(CLIENT, { versionNegotiation: { mode } });
  await client.connect(transport);
  expect(client.getProtocolEra()).toBe(mode === "auto" ? "modern" : "legacy");
  return {
    listTools: () => client.listTools(),
    callTool: (params) => client.callTool(params),
    async subscribe(uris, onUpdated) {
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => onUpdated(params.uri));
      if (mode === "auto") {
        const { honoredFilter, close } = await client.listen({ resourceSubscriptions: [...uris] });
        expect(honoredFilter).toEqual({ resourceSubscriptions: uris });
        return close;
      }
      for (const uri of uris) await client.subscribeResource({ uri });
      return async () => {
        for (const uri of uris) await client.unsubscribeResource({ uri });
      };
    },
    close: () => leave(client, transport),
  };
}

async function connectOld(transport: Parameters<OldClient["connect"]>[0]): Promise<AnyClient> {
  const client = new OldClient(CLIENT);
  await client.connect(transport);
  return {
    listTools: () => client.listTools(),
    callTool: (params) => client.callTool(params),
    async subscribe(uris, onUpdated) {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => onUpdated(params.uri));
      for (const uri of uris) await client.subscribeResource({ uri });
      return async () => {
        for (const uri of uris) await client.unsubscribeResource({ uri });
      };
    },
    close: () => leave(client, transport),
  };
}

/** A session outlives its connections until it is ended. */
async function leave(client: Pick<Client, "close">, transport: object): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport || transport instanceof OldHttp)
    await transport.terminateSession();
  await client.close();
}

/** The SDKs no longer have such a transport. */
class SocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (cause: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }
  async start() {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#socket.once("open", resolve).once("error", reject);
    this.#socket.on("message", (data) => this.onmessage?.(JSON.parse(String(data))));
    this.#socket.once("close", () => this.onclose?.());
    await promise;
  }
  async send(message: JSONRPCMessage) {
    this.#socket.send(JSON.stringify(message));
  }
  async close() {
    this.#socket.close();
  }
}

/** The transport of 1.x opens the global WebSocket, which cannot send a token; this one can. */
async function openOldSocket(url: string, headers: Record<string, string>): Promise<AnyClient> {
  const { WebSocketClientTransport } = await import("@modelcontextprotocol/sdk/client/websocket.js");
  const plain = globalThis.WebSocket;
  class WithToken extends WebSocket {
    constructor(address: string | URL, protocol: string) {
      super(address, protocol, { headers });
    }
  }
  // The part of the interface that the transport uses.
  globalThis.WebSocket = WithToken as never;
  const transport = new WebSocketClientTransport(new URL(url));
  const client = await connectOld(transport);
  globalThis.WebSocket = plain;
  return client;
}
