import { rmSync } from "node:fs";
import { Context, Router } from "zeromq";
import { MAX_BODY_BYTES } from "../hoot01/frames.ts";
import type { RequestRunner } from "../run-request.ts";
import { admitOnly } from "./authenticator.ts";
import { createBroadcaster } from "./broadcaster.ts";
import { bindSocket, broadcastAddress, checkUnused, parseEndpoint, secureEndpoint } from "./endpoint.ts";
import type { WireKeys } from "./keys.ts";
import { MessageServer } from "./message-server.ts";

export interface ZmqServerOptions extends RequestRunner {
  /** `ipc:///…` in a folder of mode 0700, or `tcp://host:port` with keys. */
  readonly address: string;
  readonly keys?: WireKeys;
  readonly name: string;
  readonly version: string;
  readonly instructions?: string;
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

/** Serves the dispatcher to ZeroMQ clients. */
export async function serveZmq(options: ZmqServerOptions): Promise<ZmqServer> {
  const { keys, heartbeatMs = HEARTBEAT_MS, log } = options;
  const endpoint = parseEndpoint(options.address);
  secureEndpoint(endpoint, keys);
  await checkUnused(endpoint);
  const context = new Context();
  // Closed in reverse order, also when the server cannot listen: open sockets would keep the process alive.
  await using opened = new AsyncDisposableStack();
  if (keys?.kind === "curve") opened.defer(await admitOnly(keys.client.publicKey, context));
  const curve = toCurveOptions(keys);
  const router = new Router({
    context,
    linger: 0,
    mandatory: true,
    // A send that waited for one slow peer would delay the answers to all others.
    sendTimeout: 0,
    sendHighWaterMark: SEND_HIGH_WATER_MARK,
    receiveHighWaterMark: RECEIVE_HIGH_WATER_MARK,
    maxMessageSize: MAX_BODY_BYTES,
    ...curve,
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
    (await createBroadcaster(broadcastAddress(endpoint), options.jobs.events, options.caller.id, {
      context,
      curve,
      keys,
    }));
  opened.defer(() => broadcaster?.close());
  const server = new MessageServer(options, router, broadcaster?.address, heartbeatMs);
  const closed = server.run().catch((cause) => log(`ZeroMQ server failed: ${cause}`));
  const running = opened.move();
  return {
    address,
    broadcast: broadcaster?.address,
    async close() {
      if (running.disposed) return;
      server.close();
      await running.disposeAsync();
      await closed;
    },
  };
}

const toCurveOptions = (keys: WireKeys | undefined) =>
  keys?.kind === "curve"
    ? {
        curveServer: true,
        curvePublicKey: keys.server.publicKey,
        curveSecretKey: keys.server.secretKey,
        zapDomain: "octant",
      }
    : {};
