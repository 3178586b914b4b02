import { rmSync } from "node:fs";
import type { Topics } from "@octant/core";
import { Context, Router } from "zeromq";
import { MAX_BODY_BYTES } from "../hoot01/frames.ts";
import { MessageServer, type MessageServerOptions } from "../hoot01/message-server.ts";
import { broadcastPassword } from "../hoot01/signature.ts";
import { type Admits, admitKey, admitPassword, authenticate } from "./authenticator.ts";
import { createBroadcaster } from "./broadcaster.ts";
import {
  bindSocket,
  broadcastAddress,
  checkUnused,
  parseEndpoint,
  secureEndpoint,
  toReachable,
} from "./endpoint.ts";
import type { WireKeys } from "./keys.ts";

export interface ZmqServerOptions extends MessageServerOptions {
  /** `ipc:///…` in a folder of mode 0700, or `tcp://host:port` with keys. */
  readonly address: string;
  /** Broadcast besides the jobs. */
  readonly topics?: Topics;
  readonly heartbeatMs?: number;
  readonly log: (line: string) => void;
}

export interface ZmqServer {
  /** The actual address: the port may have been given as `*`. */
  readonly address: string;
  readonly broadcast: string | undefined;
  close(): Promise<void>;
}

const HEARTBEAT_MS = 2_000;
/** Replies buffered for one peer. Beyond it a reply is dropped, and found again when the peer retries. */
const SEND_HIGH_WATER_MARK = 1_000;
/**
 * Requests of one peer that wait in memory to be read, of up to 16 MiB each; the others wait in the kernel and with the
 * peer. More of them made no call faster, and the server larger (docs/decisions/0030-wire.md).
 */
const RECEIVE_HIGH_WATER_MARK = 2;
/** A connection that does not complete its handshake, or no longer answers pings of ZeroMQ, is closed. */
const toConnectionLimits = (heartbeatMs: number) => ({
  handshakeInterval: 5 * heartbeatMs,
  heartbeatInterval: 15 * heartbeatMs,
  heartbeatTimeout: 15 * heartbeatMs,
});

/** Serves the dispatcher to ZeroMQ clients. */
export async function serveZmq(options: ZmqServerOptions): Promise<ZmqServer> {
  const { keys, heartbeatMs = HEARTBEAT_MS, log } = options;
  const endpoint = parseEndpoint(options.address);
  secureEndpoint(endpoint, keys);
  await checkUnused(endpoint);
  const context = new Context();
  // Closed in reverse order, also when the server cannot listen: open sockets would keep the process alive.
  await using opened = new AsyncDisposableStack();
  const limits = toConnectionLimits(heartbeatMs);
  const security = toSecurity(keys);
  if (security) opened.defer(await authenticate(context, security.admits));
  const router = new Router({
    context,
    linger: 0,
    mandatory: true,
    // A send that waited for one slow peer would delay the answers to all others.
    sendTimeout: 0,
    sendHighWaterMark: SEND_HIGH_WATER_MARK,
    receiveHighWaterMark: RECEIVE_HIGH_WATER_MARK,
    maxMessageSize: MAX_BODY_BYTES,
    ...limits,
    ...security?.router,
  });
  // Without `unbind`: it runs in its own thread next to the socket's reader, which crashes libzmq.
  opened.defer(() => router.close());
  const address = await bindSocket(router, endpoint.address);
  const { path } = endpoint;
  opened.defer(() => {
    for (const file of path ? [path, `${path}.pub`] : []) rmSync(file, { force: true });
  });
  const broadcaster =
    options.jobs &&
    (await createBroadcaster(broadcastAddress(endpoint), {
      jobs: options.jobs.events,
      topics: options.topics,
      caller: options.caller,
      socket: { context, ...limits, ...security?.publisher },
      keys,
    }));
  opened.defer(() => broadcaster?.close());
  const broadcast = broadcaster && toReachable(broadcaster.address);
  const server = new MessageServer(options, router, broadcast, heartbeatMs);
  const closed = server.run().catch((cause) => log(`ZeroMQ server failed: ${cause}`));
  const running = opened.move();
  return {
    address: toReachable(address),
    broadcast,
    async close() {
      if (running.disposed) return;
      server.close();
      await running.disposeAsync();
      await closed;
    },
  };
}

interface Security {
  readonly admits: Admits;
  readonly router: object;
  readonly publisher: object;
}

/** HMAC signs each message to the ROUTER; a subscriber sends none, so it shows a password instead. */
function toSecurity(keys: WireKeys | undefined): Security | undefined {
  if (!keys) return undefined;
  const zapDomain = "octant";
  if (keys.kind === "hmac") {
    const admits = admitPassword(broadcastPassword(keys.key));
    return { admits, router: {}, publisher: { plainServer: true, zapDomain } };
  }
  const { publicKey: curvePublicKey, secretKey: curveSecretKey } = keys.server;
  const curve = { curveServer: true, curvePublicKey, curveSecretKey, zapDomain };
  return { admits: admitKey(keys.client.publicKey), router: curve, publisher: curve };
}
