import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Caller } from "@octant/core";
import { createConnections } from "./access/connections.ts";
import { createGate, isRefusal, METADATA_PATH } from "./access/gate.ts";
import { hostNameOf, toReachableName } from "./access/hosts.ts";
import type { OAuthOptions } from "./access/oauth.ts";
import type { TokenCheck } from "./access/tokens.ts";
import { answerCors, type CorsHeaders } from "./cors.ts";
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from "./limits.ts";
import { createNodeServer } from "./node-server.ts";
import { BROKEN, CLOSING, notFound, refuse, refuseUnread, refuseUpgrade } from "./refusals.ts";
import { sendJson } from "./send-json.ts";

export interface HttpServerOptions {
  /** The address to listen on; the loopback address when absent. */
  readonly host?: string;
  /** Any free port when absent. */
  readonly port?: number;
  readonly tokens: TokenCheck;
  /** An authorization server whose tokens are also accepted. */
  readonly oauth?: OAuthOptions;
  /** The URL of the main resource as clients know it, when it differs from ours, such as behind a proxy. */
  readonly publicUrl?: string;
  /** The path of the main resource, which OAuth metadata describes. */
  readonly resourcePath: string;
  /**
   * The id of the served project; tokens for other projects are refused, and all project tokens when absent.
   * ANY_PROJECT: tokens of all projects are accepted, and each caller is limited to its own.
   */
  readonly project?: string;
  /** Paths of PEM files. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Additional host names, without port, under which clients reach us. */
  readonly allowedHosts?: readonly string[];
  /** Additional origins of pages that may call us. */
  readonly allowedOrigins?: readonly string[];
  readonly cors?: CorsHeaders;
  readonly limits?: Partial<HttpLimits>;
  readonly log: (line: string) => void;
}

/** It may be async. */
export type Handle = (request: IncomingMessage, response: ServerResponse, caller: Caller) => void;
export type Upgrade = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  caller: Caller,
) => void | Promise<void>;

/** Serves a path and all paths below it. Host, Origin, token and rate were checked before. */
export interface Mount {
  readonly handle?: Handle;
  /**
   * Serves requests without a token, such as for a page; Host and Origin are still checked. Returns false for a request
   * that needs a token after all.
   */
  readonly handlePublic?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** A token from another place than the Authorization header, such as a cookie of this path. */
  readonly tokenOf?: (request: IncomingMessage) => string | undefined;
  /** Takes over the connection of a WebSocket handshake. */
  readonly upgrade?: Upgrade;
  /**
   * Accepts handshakes without one of our tokens and checks them itself; Host and Origin were checked before. Returns
   * false for one that needs a token after all.
   */
  readonly upgradePublic?: (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ) => void | false | Promise<void>;
  /** Stops reading, and resolves when running work has ended or `drainMs` is over. */
  drain?(drainMs: number): Promise<void>;
  close?(): Promise<void> | void;
}

const LOOPBACK = "127.0.0.1";
/** A client that does not read its last answer must not delay the end. */
const LAST_READ_MS = 500;
const NO_CORS: CorsHeaders = { allow: [], expose: [] };

export type HttpServer = Awaited<ReturnType<typeof createHttpServer>>;

/** One listener for all edges. */
export async function createHttpServer(options: HttpServerOptions) {
  const { host = LOOPBACK, port = 0, tls, log, resourcePath, cors = NO_CORS } = options;
  const limits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  const server = await createNodeServer(tls, limits);
  const sites = new Map<string, Mount>();
  /** A name has one label before the domain of its site. */
  const siteOf = (name: string | undefined) => sites.get(/^[^.]+\.(.+)$/.exec(name ?? "")?.[1] ?? "");
  const isSite = (name: string) => siteOf(name) !== undefined;
  const gate = createGate({ ...limits, ...options, host, isSite }, () => url);
  const connections = createConnections(gate.standingOf);
  const mounts = new Map<string, Mount>();
  let url = options.publicUrl ?? "";
  let bound = 0;
  let closing: Promise<void> | undefined;

  const find = (path: string): Mount | undefined => {
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      const mount = mounts.get(path.slice(0, end));
      if (mount) return mount;
    }
    return mounts.get("/");
  };
  const mounted = (kind: "handle" | "upgrade") =>
    [...mounts].flatMap(([path, mount]) => (mount[kind] ? [path] : []));
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    if (closing) return refuse(response, CLOSING);
    const refusal = gate.checkHost(request);
    if (refusal) return refuseUnread(request, response, refusal);
    const site = siteOf(hostNameOf(request.headers.host));
    if (site) return answer(request, response, site);
    if (answerCors(request, response, cors)) return;
    const path = pathOf(request);
    const metadata = path.startsWith(METADATA_PATH) ? gate.metadata() : undefined;
    if (metadata) return sendJson(response, 200, JSON.stringify(metadata));
    return answer(request, response, find(path));
  };
  const answer = async (request: IncomingMessage, response: ServerResponse, mount: Mount | undefined) => {
    if (mount?.handlePublic?.(request, response)) return;
    const who = await gate.identify(request, mount?.tokenOf?.(request));
    if (isRefusal(who)) return refuseUnread(request, response, who);
    connections.request(request.socket, who, response);
    if (mount?.handle) return mount.handle(request, response, who);
    refuseUnread(request, response, notFound(mounted("handle")));
  };
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (closing) return refuseUpgrade(socket, CLOSING);
    const refusal = gate.checkHost(request);
    if (refusal) return refuseUpgrade(socket, refusal);
    const mount = siteOf(hostNameOf(request.headers.host)) ?? find(pathOf(request));
    if (mount?.upgradePublic && (await mount.upgradePublic(request, socket, head)) !== false) return;
    const who = await gate.identify(request);
    if (isRefusal(who)) return refuseUpgrade(socket, who);
    if (mount?.upgrade) return mount.upgrade(request, socket, head, who);
    return refuseUpgrade(socket, notFound(mounted("upgrade")));
  };
  server.on("request", (request, response) => {
    // A bug in one answer must not end the process and with it those of all other callers.
    receive(request, response).catch((cause) => {
      log(`http: a request failed: ${cause instanceof Error ? cause.stack : cause}`);
      if (response.headersSent) response.destroy();
      else refuseUnread(request, response, BROKEN);
    });
  });
  server.on("upgrade", (request, socket, head) => {
    // A peer that resets the connection now must not crash the process.
    socket.on("error", (cause: Error) => log(`websocket: ${cause.message}`));
    upgrade(request, socket, head).catch((cause) => {
      log(`websocket: handshake failed: ${cause}`);
      socket.destroy();
    });
  });

  const end = async () => {
    const stopped = once(server, "close");
    server.close();
    const all = [...new Set([...mounts.values(), ...sites.values()])];
    await Promise.all(all.map((mount) => mount.drain?.(limits.drainMs)));
    await Promise.all(all.map((mount) => mount.close?.()));
    const deadline = setTimeout(() => server.closeAllConnections(), LAST_READ_MS);
    server.closeIdleConnections();
    await stopped;
    clearTimeout(deadline);
    connections.close();
  };
  const { promise: closed, resolve, reject } = Promise.withResolvers<void>();
  return {
    /** The URL of the main resource; known once it listens. */
    get url(): string {
      return url;
    },
    get port(): number {
      return bound;
    },
    /** Ends a caller's open requests when that caller loses access. */
    connections,
    standingOf: gate.standingOf,
    /** Serves `path` and the paths below it; the longest path wins. */
    mount(path: string, mount: Mount | Handle): void {
      if (mounts.has(path)) throw new TypeError(`${path} is already mounted`);
      mounts.set(path, typeof mount === "function" ? { handle: mount } : mount);
    },
    /**
     * Serves every host name with one label before `domain`, such as a.localhost, apart from all that is mounted: a page
     * there has an origin of its own, without a way to call us.
     */
    mountSite(domain: string, mount: Mount): void {
      if (sites.has(domain)) throw new TypeError(`${domain} is already mounted`);
      sites.set(domain, mount);
    },
    async listen(): Promise<void> {
      server.listen(port, host);
      await once(server, "listening");
      // It listens on a port, not on a pipe.
      bound = (server.address() as AddressInfo).port;
      url ||= `${tls ? "https" : "http"}://${toReachableName({ ...options, host })}:${bound}${resourcePath}`;
    },
    /** Resolves when the server has closed. */
    closed,
    /** Lets running work finish for a while and accepts nothing new. */
    close(): Promise<void> {
      if (!closing) {
        closing = end();
        closing.then(resolve, reject);
      }
      return closed;
    },
  };
}

function pathOf({ url = "/" }: IncomingMessage): string {
  const end = url.indexOf("?");
  return end === -1 ? url : url.slice(0, end);
}
