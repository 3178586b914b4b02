import { rmSync } from "node:fs";
import { type BinaryPart, ToolError, toTraceId } from "@octant/core";
import { Context, Router } from "zeromq";
import { toDeclaration } from "../declarations.ts";
import { parseRequest, type RequestEnvelope, type ResponseEnvelope, refusal } from "../envelopes.ts";
import { encodeFrames, findRequestId, MAX_BODY_BYTES, type Message, parseFrames } from "../hoot01/frames.ts";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import { ClientReady, PROTOCOL, type ServerReady } from "../ready.ts";
import { type RequestRunner, runRequest } from "../run-request.ts";
import { createUpload, type Upload } from "../upload.ts";
import { createWindow, type Window } from "../window.ts";
import { admitOnly } from "./authenticator.ts";
import { type Broadcaster, createBroadcaster } from "./broadcaster.ts";
import {
  bindSocket,
  broadcastAddress,
  checkUnused,
  parseEndpoint,
  secureEndpoint,
  socketPath,
} from "./endpoint.ts";
import type { WireKeys } from "./keys.ts";
import { createPeers, type Peer } from "./peers.ts";
import { createRecentReplies } from "./recent-replies.ts";
import { signFrames, verifyFrames } from "./signature.ts";

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
  /** Where it really listens: a free port was asked for as `*`. */
  readonly address: string;
  readonly broadcast: string | undefined;
  close(): Promise<void>;
}

const HEARTBEAT_MS = 2_000;
/** Replies that wait for one peer. Beyond it a reply is dropped, and found again when the peer retries. */
const SEND_HIGH_WATER_MARK = 1_000;
/** Requests of one peer that wait to be read, of up to 16 MiB each; beyond it the peer's own send waits. */
const RECEIVE_HIGH_WATER_MARK = 64;
const MAX_CALLS_IN_FLIGHT = 256;
const RETRY_AFTER_MS = 250;
/** A tool sends chunks of 16 KiB: 1 MiB is under way at most. */
const RAW_WINDOW = 64;

/** Serves the dispatcher to ZeroMQ clients. */
export async function serveZmq(options: ZmqServerOptions): Promise<ZmqServer> {
  const { keys, heartbeatMs = HEARTBEAT_MS, log } = options;
  const endpoint = parseEndpoint(options.address);
  secureEndpoint(endpoint, keys);
  await checkUnused(endpoint);
  const context = new Context();
  const stopAdmitting = keys?.kind === "curve" ? await admitOnly(keys.client.publicKey, context) : undefined;
  const curve = toCurveOptions(keys);
  const router = new Router({
    context,
    linger: 0,
    mandatory: true,
    // A send that would wait for one slow peer would hold up the answers to all others.
    sendTimeout: 0,
    sendHighWaterMark: SEND_HIGH_WATER_MARK,
    receiveHighWaterMark: RECEIVE_HIGH_WATER_MARK,
    maxMessageSize: MAX_BODY_BYTES,
    ...curve,
  });
  const address = await bindSocket(router, endpoint.address);
  const path = socketPath(endpoint);
  const broadcaster =
    options.jobs &&
    (await createBroadcaster(broadcastAddress(endpoint), options.jobs.events, options.caller.id, {
      context,
      curve,
      keys,
    }));
  const server = new Server(options, router, broadcaster, heartbeatMs);
  const closed = server.run().catch((cause) => log(`ZeroMQ server failed: ${cause}`));
  return {
    address,
    broadcast: broadcaster?.address,
    async close() {
      if (router.closed) return;
      server.close();
      // Without `unbind`: it works in a thread of its own beside the socket's reader, and that crashes libzmq.
      broadcaster?.close();
      router.close();
      for (const file of path ? [path, `${path}.pub`] : []) rmSync(file, { force: true });
      await closed;
      stopAdmitting?.();
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

/** One request at work. */
interface Running {
  peer: Peer;
  readonly controller: AbortController;
  readonly window: Window;
  readonly upload: Upload | undefined;
}

class Server {
  readonly #options: ZmqServerOptions;
  readonly #router: Router;
  readonly #broadcaster: Broadcaster | undefined;
  readonly #heartbeatMs: number;
  readonly #running = new Map<string, Running>();
  readonly #recent = createRecentReplies();
  readonly #peers;

  constructor(
    options: ZmqServerOptions,
    router: Router,
    broadcaster: Broadcaster | undefined,
    heartbeatMs: number,
  ) {
    this.#options = options;
    this.#router = router;
    this.#broadcaster = broadcaster;
    this.#heartbeatMs = heartbeatMs;
    this.#peers = createPeers(heartbeatMs, (peer) => this.#leave(peer));
  }

  async run(): Promise<void> {
    for await (const frames of this.#router) this.#receive(frames);
  }

  close(): void {
    this.#peers.close();
    for (const { controller } of this.#running.values())
      controller.abort(new ToolError("CANCELLED", "the server stops", {}));
  }

  #receive(frames: readonly Buffer[]) {
    const identity = frames[0];
    if (!identity) return;
    try {
      const { identities, message } = parseFrames(this.#verify(frames), { routed: true });
      const peer = this.#peers.heard(identities);
      this.#take(peer, message);
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      // UNAUTHENTICATED peers learn it too, but nothing else about the server.
      this.#refuse(this.#peers.heard([identity]), findRequestId(frames), cause);
    }
  }

  #verify(frames: readonly Buffer[]): readonly Uint8Array[] {
    const { keys } = this.#options;
    return keys?.kind === "hmac" ? verifyFrames(frames, 1, keys.key, Date.now()) : frames;
  }

  #take(peer: Peer, message: Message) {
    const { command, requestId } = message;
    if (command === "request") return this.#request(peer, message);
    if (command === "ready") return this.#announce(peer, message);
    if (command === "heartbeat") return this.#heartbeat(peer, message);
    if (command === "disconnect") return this.#disconnect(peer, requestId);
    throw new ToolError(
      "INVALID_ARGUMENT",
      "a server takes no Reply; send Request, Heartbeat, Ready or Disconnect",
      {
        issues: [{ path: "frame 1", message: "a server takes no Reply" }],
      },
    );
  }

  #announce(peer: Peer, { requestId, contentType, body }: Message) {
    const wanted = contentType === "empty" ? {} : parseReady(parseBody(contentType, body));
    const { name, version, instructions, registry, roots } = this.#options;
    const tools = registry.list();
    const ready: ServerReady = {
      protocol: PROTOCOL,
      name,
      version,
      tools: tools.map((tool) => tool.name),
      ...(wanted.declarations && { declarations: tools.map(toDeclaration) }),
      ...(wanted.declarations && instructions !== undefined && { instructions }),
      ...(wanted.declarations && roots && { roots }),
      accepts_binary: true,
      ...(this.#broadcaster && { broadcast: this.#broadcaster.address }),
      heartbeat_ms: this.#heartbeatMs,
      max_body_bytes: MAX_BODY_BYTES,
    };
    void this.#send(peer, {
      command: "ready",
      contentType: "msgpack",
      requestId,
      body: encodeMsgPack(ready),
    });
  }

  /** One with a request id acknowledges chunks of its stream; any other asks whether we are here. */
  #heartbeat(peer: Peer, { requestId, contentType, body }: Message) {
    this.#peers.beats(peer);
    const running = this.#running.get(toKey(requestId));
    if (contentType === "msgpack" && running) {
      const ack = parseMsgPack(body);
      if (typeof ack === "object" && ack !== null && "received" in ack)
        running.window.acknowledge(Number(ack.received));
      return;
    }
    void this.#send(peer, { command: "heartbeat", requestId });
  }

  /** With a request id it cancels that request; without one the peer leaves. */
  #disconnect(peer: Peer, requestId: Uint8Array) {
    if (isZero(requestId)) return this.#peers.remove(peer);
    const running = this.#running.get(toKey(requestId));
    if (running?.peer === peer)
      running.controller.abort(new ToolError("CANCELLED", "the caller cancelled the call", {}));
  }

  #leave(peer: Peer) {
    for (const running of this.#running.values())
      if (running.peer === peer) running.controller.abort(new ToolError("CANCELLED", "the caller left", {}));
  }

  #request(peer: Peer, message: Message) {
    const { requestId, contentType, body } = message;
    const key = toKey(requestId);
    if (contentType === "raw") return this.#uploaded(key, body);
    if (isZero(requestId))
      throw invalid("frame 3", "a Request needs a request id of its own, 16 random bytes");
    const seen = this.#recent.see(key, body, Date.now());
    if (seen === "reused")
      throw invalid("frame 3", "this request id belongs to another request; use 16 random bytes for each");
    // The retry of a request that still runs: its answer goes to where the client is now.
    if (seen === "running") return this.#redirect(peer, key);
    if (seen !== "new") {
      for (const reply of seen.replies) void this.#reply(peer, requestId, reply);
      return;
    }
    try {
      const request = parseRequest(parseBody(contentType, body));
      if (peer.calls >= MAX_CALLS_IN_FLIGHT) throw overloaded();
      void this.#run(peer, message, key, request);
    } catch (cause) {
      this.#recent.forget(key);
      throw cause;
    }
  }

  #redirect(peer: Peer, key: string) {
    const running = this.#running.get(key);
    if (!running) return;
    running.peer.calls -= 1;
    peer.calls += 1;
    running.peer = peer;
  }

  #uploaded(key: string, bytes: Uint8Array) {
    const upload = this.#running.get(key)?.upload;
    if (!upload)
      throw invalid("frame 3", "no upload with this request id; send the Request with upload_bytes first");
    upload.push(bytes);
  }

  async #run(peer: Peer, message: Message, key: string, request: RequestEnvelope): Promise<void> {
    const { requestId, traceparent } = message;
    const size = request.upload_bytes ?? undefined;
    const running: Running = {
      peer,
      controller: new AbortController(),
      window: createWindow(request.window ?? RAW_WINDOW),
      upload:
        size === undefined
          ? undefined
          : createUpload(size, (received) => this.#acknowledge(running, requestId, received)),
    };
    this.#running.set(key, running);
    peer.calls += 1;
    try {
      const { signal } = running.controller;
      const context = {
        traceparent,
        signal,
        ...(running.upload && { upload: toPart(running.upload, signal) }),
      };
      const response = await runRequest(this.#options, request, context, {
        reply: (one) => this.#reply(running.peer, requestId, encodeMsgPack(one)),
        raw: (bytes) =>
          this.#send(running.peer, { command: "reply", contentType: "raw", requestId, body: bytes }),
        window: running.window,
        isPaced: typeof request.window === "number",
      });
      this.#finish(running, key, requestId, response);
    } catch (cause) {
      // The dispatcher never rejects; a stream does when its reader goes.
      const error =
        cause instanceof ToolError ? cause : new ToolError("CANCELLED", "the stream was cancelled", {});
      this.#finish(running, key, requestId, refusal(error, toTraceId(traceparent), request.request.tool));
    } finally {
      this.#running.delete(key);
      running.peer.calls -= 1;
    }
  }

  #finish(running: Running, key: string, requestId: Uint8Array, response: ResponseEnvelope) {
    const body = encodeBody(response);
    this.#recent.finish(key, body);
    void this.#reply(running.peer, requestId, body);
  }

  #acknowledge(running: Running, requestId: Uint8Array, received: number) {
    void this.#send(running.peer, {
      command: "heartbeat",
      contentType: "msgpack",
      requestId,
      body: encodeMsgPack({ received }),
    });
  }

  #refuse(peer: Peer, requestId: Uint8Array, cause: ToolError) {
    void this.#reply(peer, requestId, encodeMsgPack(refusal(cause, toTraceId(undefined))));
  }

  #reply(peer: Peer, requestId: Uint8Array, body: Uint8Array): Promise<boolean> {
    return this.#send(peer, { command: "reply", contentType: "msgpack", requestId, body });
  }

  /** False when the peer is gone or does not read: the socket refuses at once, and never holds up another peer. */
  async #send(peer: Peer, message: Parameters<typeof encodeFrames>[0]): Promise<boolean> {
    const { keys } = this.#options;
    const frames = encodeFrames(message);
    const signed = keys?.kind === "hmac" ? signFrames(frames, keys.key, Date.now()) : frames;
    try {
      await this.#router.send([...peer.identities, ...signed]);
      return true;
    } catch {
      return false;
    }
  }
}

function parseBody(contentType: Message["contentType"], body: Uint8Array): unknown {
  if (contentType === "msgpack") return parseMsgPack(body);
  throw new ToolError("UNSUPPORTED", "a body here is MsgPack", {
    what: `content type ${contentType}`,
    how: "send content type 1 (MsgPack); JSON is spoken at the MCP edges",
  });
}

function parseReady(value: unknown): ClientReady {
  const parsed = ClientReady.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(
    "body",
    parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "),
  );
}

/** An answer that does not fit into a body is the error that says so. */
function encodeBody(response: ResponseEnvelope): Uint8Array {
  const body = encodeMsgPack(response);
  if (body.length <= MAX_BODY_BYTES || !("meta" in response)) return body;
  const message = `the answer has ${body.length} bytes; a body has at most ${MAX_BODY_BYTES}: ask for less`;
  const { tool, trace_id } = response.meta;
  return encodeMsgPack(
    refusal(
      new ToolError("TOO_LARGE", message, { limit: MAX_BODY_BYTES, actual: body.length }),
      trace_id,
      tool,
    ),
  );
}

const toPart = (upload: Upload, signal: AbortSignal): BinaryPart => ({
  mime: "application/octet-stream",
  size: upload.size,
  read: () => upload.read(signal),
});

const toKey = (requestId: Uint8Array): string =>
  Buffer.from(requestId.buffer, requestId.byteOffset, requestId.length).toString("latin1");
const isZero = (requestId: Uint8Array): boolean => requestId.every((byte) => byte === 0);

const invalid = (path: string, message: string) =>
  new ToolError("INVALID_ARGUMENT", `malformed HOOT01 message: ${path}: ${message}`, {
    issues: [{ path, message }],
  });

const overloaded = () =>
  new ToolError(
    "OVERLOADED",
    `${MAX_CALLS_IN_FLIGHT} calls are running already; wait for some of them, then call again`,
    {
      retry_after_ms: RETRY_AFTER_MS,
    },
  );
