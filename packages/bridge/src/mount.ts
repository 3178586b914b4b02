import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { createRateLimit, type HttpRefusal, type HttpServer, refuseUpgrade } from "@octant/http";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";
import { type BridgeStream, CLOSE, createBridgeStream } from "./stream.ts";
import { createTokenVerifier, type Identity, type TokenOptions } from "./token.ts";

const SECOND_MS = 1_000;
const MIB = 1024 * 1024;

/** Prevent one owner from exhausting the bridge for the others. */
const DEFAULT_BRIDGE_LIMITS = {
  /** Streams of one owner, connected or waiting for a reconnect. */
  maxStreamsPerOwner: 50,
  maxStreams: 2_000,
  /** Beyond this rate reading pauses. */
  framesPerSecond: 200,
  maxFrameBytes: 4 * MIB,
  /** Frames stored for a client that reconnects. */
  maxLogFrames: 2_000,
  maxKeptChars: 4 * MIB,
  /** Unread bytes to a client above which we stop reading from it. */
  highWaterBytes: MIB,
  /** A client with more unread bytes is disconnected. */
  maxWaitingBytes: 16 * MIB,
  /** How long a stream waits for its client to reconnect. */
  reconnectMs: 60 * SECOND_MS,
  pingMs: 30 * SECOND_MS,
} as const;

export type BridgeLimits = { readonly [Name in keyof typeof DEFAULT_BRIDGE_LIMITS]: number };

/** The destination of a conversation's frames. */
export interface FrameOutlet {
  write(frame: string): void;
  /** True while the client reads more slowly than it is answered. */
  isFull(): boolean;
}

/** One client's conversation, which may outlive several connections. */
export interface BridgeConversation {
  /** Handles the text of one frame. */
  receive(text: string): void;
  /** Call when the outlet is no longer full. */
  resume(): void;
  /** Cancels running work. */
  close(): Promise<void>;
}

/** The service behind a path of the bridge, such as MCP or the agent. */
export interface BridgeEndpoint {
  open(identity: Identity, outlet: FrameOutlet): BridgeConversation;
}

export interface BridgeOptions {
  /** By name: `mcp` is served at /bridge/mcp. */
  readonly endpoints: Readonly<Record<string, BridgeEndpoint>>;
  readonly token: TokenOptions;
  /** The only origins whose pages may connect. */
  readonly allowedOrigins: readonly string[];
  readonly limits?: Partial<BridgeLimits>;
  readonly log: (line: string) => void;
}

const BRIDGE_PATH = "/bridge";
/** Offered by the client along with the token, and selected by the bridge. */
const BRIDGE_PROTOCOL = "octant.bridge.v1";
const TOKEN_PREFIX = "bearer.";
/** A client that does not answer the close is terminated. */
const CLOSE_MS = 1_000;

/** Serves pages over WebSocket; origin and token are checked before the upgrade. */
export function mountBridge(server: HttpServer, options: BridgeOptions): void {
  const limits = { ...DEFAULT_BRIDGE_LIMITS, ...options.limits };
  const verifier = createTokenVerifier(options.token);
  const origins = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase()));
  const rate = createRateLimit(limits.framesPerSecond);
  const streams = new Map<string, BridgeStream>();
  const sockets = createSocketServer(limits);

  const identify = async (request: IncomingMessage): Promise<Identity | HttpRefusal> => {
    const token = tokenOf(request);
    if (token === undefined) return NO_TOKEN;
    try {
      return (await verifier.verify(token)) ?? BAD_TOKEN;
    } catch (cause) {
      options.log(`bridge: a token could not be checked: ${cause}`);
      return UNCHECKED;
    }
  };
  const ownStreams = ({ callerId }: Identity) =>
    [...streams.values()].filter(({ identity }) => identity.callerId === callerId).length;
  const open = (identity: Identity, endpoint: BridgeEndpoint): BridgeStream => {
    const onClosed = ({ id }: BridgeStream) => void streams.delete(id);
    const stream = createBridgeStream({ identity, endpoint, limits, rate, onClosed });
    streams.set(stream.id, stream);
    return stream;
  };
  /** Only for the same person with the same rights: a conversation keeps those that it was opened with. */
  const find = (id: string, identity: Identity): BridgeStream | undefined => {
    const stream = streams.get(id);
    const isSame = (name: "callerId" | "subject" | "readOnly") => stream?.identity[name] === identity[name];
    return isSame("callerId") && isSame("subject") && isSame("readOnly") ? stream : undefined;
  };
  const connect = (ws: WebSocket, identity: Identity, endpoint: BridgeEndpoint, place: Place) => {
    const stream = place.stream === undefined ? open(identity, endpoint) : find(place.stream, identity);
    if (!stream?.attach(ws, identity, place.after))
      ws.close(CLOSE.GONE, "the stream or some of its frames have expired; open a new one");
  };

  server.mount(BRIDGE_PATH, {
    async upgradePublic(request, socket: Duplex, head) {
      const refuse = (refusal: HttpRefusal) => refuseUpgrade(socket, refusal);
      if (!origins.has(request.headers.origin?.toLowerCase() ?? "")) return refuse(BAD_ORIGIN);
      const place = placeOf(request);
      const endpoint = place && Object.hasOwn(options.endpoints, place.name) && options.endpoints[place.name];
      if (!place || !endpoint) return refuse(notFound(Object.keys(options.endpoints)));
      if (!protocolsOf(request).includes(BRIDGE_PROTOCOL)) return refuse(NO_PROTOCOL);
      const identity = await identify(request);
      if ("status" in identity) return refuse(identity);
      const isNew = place.stream === undefined;
      if (isNew && (ownStreams(identity) >= limits.maxStreamsPerOwner || streams.size >= limits.maxStreams))
        return refuse(TOO_MANY);
      sockets.handleUpgrade(request, socket, head, (ws) => connect(ws, identity, endpoint, place));
    },
    async close() {
      await Promise.all([...streams.values()].map((one) => one.close(CLOSE.GOING_AWAY, "the server stops")));
      sockets.close();
    },
  });
}

function createSocketServer(limits: BridgeLimits): WebSocketServer {
  // The types lack closeTimeout.
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    maxPayload: limits.maxFrameBytes,
    closeTimeout: CLOSE_MS,
    // Compression costs memory for every socket, and lets small frames grow large.
    perMessageDeflate: false,
    handleProtocols: () => BRIDGE_PROTOCOL,
  };
  return new WebSocketServer(options);
}

/** The endpoint, and the stream to continue with its number of received frames. */
interface Place {
  readonly name: string;
  readonly stream: string | undefined;
  readonly after: number;
}

function placeOf({ url = "" }: IncomingMessage): Place | undefined {
  const parsed = URL.parse(url, "http://bridge");
  const name = parsed?.pathname.slice(BRIDGE_PATH.length + 1) ?? "";
  const after = parsed?.searchParams.get("after") ?? "0";
  if (!parsed || !/^\d{1,15}$/.test(after)) return undefined;
  return { name, stream: parsed.searchParams.get("stream") ?? undefined, after: Number(after) };
}

const protocolsOf = ({ headers }: IncomingMessage): readonly string[] =>
  (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());

/** Pages cannot send headers with a WebSocket, so the token is offered as a subprotocol. */
function tokenOf(request: IncomingMessage): string | undefined {
  const offered = protocolsOf(request).find((name) => name.startsWith(TOKEN_PREFIX));
  if (offered !== undefined) return offered.slice(TOKEN_PREFIX.length);
  return /^bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
}

const BAD_ORIGIN: HttpRefusal = { status: 403, message: "this Origin may not connect" };
const NO_TOKEN: HttpRefusal = {
  status: 401,
  message: `offer the subprotocol ${TOKEN_PREFIX}<JWT>, or send Authorization: Bearer <JWT>`,
  headers: { "www-authenticate": "Bearer" },
};
const BAD_TOKEN: HttpRefusal = {
  status: 401,
  message: "the token is not valid here",
  headers: { "www-authenticate": 'Bearer error="invalid_token"' },
};
const UNCHECKED: HttpRefusal = {
  status: 503,
  message: "the token cannot be checked right now; try again",
  headers: { "retry-after": "5" },
};
const NO_PROTOCOL: HttpRefusal = { status: 400, message: `offer the subprotocol ${BRIDGE_PROTOCOL}` };
const TOO_MANY: HttpRefusal = {
  status: 429,
  message: "this owner has too many streams open",
  headers: { "retry-after": "5" },
};
const notFound = (names: readonly string[]): HttpRefusal => ({
  status: 404,
  message: `the bridge has ${names.map((name) => `${BRIDGE_PATH}/${name}`).join(", ")}`,
});
