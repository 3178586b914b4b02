import { randomUUID } from "node:crypto";
import {
  type BinaryPart,
  type Call,
  type Dispatch,
  noBytesHere,
  type Reply,
  type StreamChunk,
  ToolError,
  toTraceId,
} from "@octant/core";
import { Context } from "zeromq";
import { type ResponseEnvelope, refusal, toReply } from "../envelopes.ts";
import { encodeFrames, type Message, NO_REQUEST_ID, parseFrames, toKey } from "../hoot01/frames.ts";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import type { ServerReady } from "../ready.ts";
import { UPLOAD_WINDOW } from "../upload.ts";
import { createWindow } from "../window.ts";
import { Connection } from "./connection.ts";
import { parseEndpoint } from "./endpoint.ts";
import type { WireKeys } from "./keys.ts";
import { MISSED_HEARTBEATS } from "./peers.ts";
import {
  type Answer,
  acknowledge,
  answerQuestion,
  endStream,
  gone,
  isProgress,
  type Pending,
  toRequest,
  toToolError,
  type WireCallOptions,
} from "./pending-request.ts";
import { sendUpload } from "./send-upload.ts";
import { signFrames, verifyFrames } from "./signature.ts";

export interface ZmqClientOptions {
  readonly address: string;
  readonly keys?: WireKeys;
  readonly heartbeatMs?: number;
  /** Requests every answer as text, too. */
  readonly text?: boolean;
  /** How often a silent server is retried, on a new connection, before calls fail with UPSTREAM_ERROR. */
  readonly attempts?: number;
}

export interface ZmqClient {
  /** The server's announcement; `declarations` also requests the schemas of its tools. */
  ready(options?: { readonly declarations?: boolean }): Promise<ServerReady>;
  /** A dispatcher in another process. It never rejects; a missing server is UPSTREAM_ERROR. */
  readonly dispatch: Dispatch;
  call(call: Call, options: WireCallOptions): Promise<Reply>;
  close(): void;
}

const HEARTBEAT_MS = 1_000;
const ATTEMPTS = 3;

/** Node keeps randomness for UUIDs in store, so this takes a tenth of the time of randomBytes. */
const newRequestId = (): Buffer => Buffer.from(randomUUID().replaceAll("-", ""), "hex");

export const createZmqClient = (options: ZmqClientOptions): ZmqClient => {
  parseEndpoint(options.address);
  return new Client(options);
};

class Client implements ZmqClient {
  readonly #options: ZmqClientOptions;
  readonly #context = new Context();
  readonly #pending = new Map<string, Pending>();
  readonly #heartbeatMs: number;
  #connection: Connection;
  #heardAt = performance.now();
  #silences = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  /** The server that requests are sent to, when it is known. */
  #serverId: string | undefined;
  /** Why the last message of the server could not be read. */
  #refused: string | undefined;

  constructor(options: ZmqClientOptions) {
    this.#options = options;
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
    this.#connection = this.#connect();
  }

  readonly dispatch: Dispatch = (call, options) => this.call(call, options);

  async ready({ declarations = false } = {}): Promise<ServerReady> {
    const body = encodeMsgPack({ protocol: "HOOT01", accepts_binary: true, declarations });
    const answer = await this.#ask({ command: "ready", contentType: "msgpack", body }, {});
    if ("ready" in answer) {
      this.#serverId = answer.ready.server_id;
      return answer.ready;
    }
    if (answer.response.kind === "error") throw toToolError(answer.response.error);
    throw new ToolError("UPSTREAM_ERROR", "the server did not answer Ready as expected", {});
  }

  async call(call: Call, options: WireCallOptions): Promise<Reply> {
    const { signal, upload } = options;
    const traceparent = typeof options.traceparent === "string" ? options.traceparent : "";
    try {
      const known = { server_id: this.#serverId, text: this.#options.text };
      const body = encodeMsgPack({ ...toRequest(call, options), ...known });
      const message = {
        command: "request",
        contentType: "msgpack",
        service: call.tool,
        traceparent,
        body,
      } as const;
      const answer = await this.#ask(message, options, signal, upload);
      if ("ready" in answer)
        throw new ToolError("UPSTREAM_ERROR", "the server answers a call with Ready", {});
      return toReply(answer.response);
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      return toReply(refusal(cause, toTraceId(traceparent), call.tool));
    }
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#post({ command: "disconnect" });
    this.#connection.close();
    this.#failAll("the client was closed");
  }

  async #ask(
    message: Pending["message"],
    options: WireCallOptions,
    signal?: AbortSignal,
    upload?: BinaryPart,
  ): Promise<Answer> {
    const requestId = newRequestId();
    const key = toKey(requestId);
    const pending: Pending = {
      message: { ...message, requestId },
      options,
      answer: Promise.withResolvers(),
      upload: upload && createWindow(UPLOAD_WINDOW),
      received: 0,
      bytes: 0,
      expectedBytes: undefined,
      handing: Promise.resolve(),
      questions: new Map(),
    };
    if (this.#closed) throw gone(this.#options.address, "the client is closed");
    this.#pending.set(key, pending);
    this.#watch();
    const cancel = () => this.#post({ command: "disconnect", requestId });
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      this.#post(pending.message);
      if (signal?.aborted) cancel();
      if (upload) void sendUpload(upload, pending, (one) => this.#post({ ...one, requestId }));
      return await pending.answer.promise;
    } finally {
      signal?.removeEventListener("abort", cancel);
      this.#pending.delete(key);
    }
  }

  #connect(): Connection {
    const { address, keys } = this.#options;
    let isReconnect = false;
    const onConnected = () => {
      if (this.#closed || connection !== this.#connection) return;
      // The socket reconnected by itself: the requests it had sent to the old server are lost.
      if (isReconnect) this.#resend();
      // Learns which server this is; a failure shows in the calls.
      if (isReconnect) this.ready().catch(() => {});
      isReconnect = true;
    };
    const onDisconnected = () => {
      this.#serverId = undefined;
    };
    const connection: Connection = new Connection(address, keys, this.#context, onConnected, onDisconnected);
    void this.#read(connection);
    return connection;
  }

  async #read(connection: Connection): Promise<void> {
    for await (const frames of connection) {
      try {
        this.#take(frames);
        this.#heardAt = performance.now();
        this.#silences = 0;
      } catch (cause) {
        // A server with other keys, or none, counts as silent, and the calls eventually fail.
        if (!(cause instanceof ToolError)) throw cause;
        this.#refused = cause.message;
      }
    }
  }

  #take(frames: readonly Buffer[]) {
    const { keys } = this.#options;
    const verified = keys?.kind === "hmac" ? verifyFrames(frames, 0, keys.key, Date.now()) : frames;
    const { message } = parseFrames(verified, { routed: false });
    const { command, contentType, requestId, body } = message;
    const pending = this.#pending.get(toKey(requestId));
    if (!pending) return;
    if (command === "heartbeat" && contentType === "msgpack") return acknowledge(pending, parseMsgPack(body));
    if (command === "ready") return pending.answer.resolve({ ready: parseMsgPack(body) as ServerReady });
    if (command !== "reply") return;
    if (contentType === "raw") return this.#raw(pending, message);
    // The server's own encoder wrote it; an invalid field fails where it is used.
    this.#reply(pending, requestId, parseMsgPack(body) as ResponseEnvelope);
  }

  #raw(pending: Pending, { requestId, body }: Message) {
    pending.bytes += body.length;
    pending.handing = pending.handing.then(async () => {
      await pending.options.onBinary?.(body);
      this.#received(pending, requestId);
    });
    pending.handing.catch(pending.answer.reject);
  }

  #received(pending: Pending, requestId: Uint8Array) {
    pending.received += 1;
    this.#about(requestId, { received: pending.received });
  }

  /** Tells the server something about a request that runs there. */
  #about(requestId: Uint8Array, news: object) {
    const body = encodeMsgPack(news);
    this.#post({ command: "heartbeat", contentType: "msgpack", requestId, body });
  }

  #reply(pending: Pending, requestId: Uint8Array, response: ResponseEnvelope) {
    const { answer, options } = pending;
    if (response.kind === "stream_start") {
      pending.expectedBytes = response.bytes;
      if (response.bytes === undefined || options.onBinary) return;
      this.#post({ command: "disconnect", requestId });
      return answer.reject(noBytesHere());
    }
    if (response.kind === "stream_chunk") {
      const answering = answerQuestion(pending, response.chunk);
      if (answering) {
        void answering.then((body) => this.#about(requestId, body));
        return this.#received(pending, requestId);
      }
      options.onChunk?.(response.chunk, response.seq);
      if (isProgress(response.chunk)) options.onProgress?.(response.chunk);
      // The server's own encoder wrote it.
      options.onStream?.(response.chunk as StreamChunk);
      return this.#received(pending, requestId);
    }
    if (response.kind !== "stream_end") return answer.resolve({ response });
    endStream(pending, response.response);
  }

  #post(message: Pending["message"]) {
    this.#connection.send(this.#encode(message));
  }

  #encode(message: Pending["message"]): Uint8Array[] {
    const { keys } = this.#options;
    const frames = encodeFrames(message);
    return keys?.kind === "hmac" ? signFrames(frames, keys.key, Date.now()) : frames;
  }

  /** Lazy Pirate: while a request is pending, a silent server gets a new connection and the same requests again. */
  #watch() {
    if (this.#timer) return;
    this.#heardAt = performance.now();
    this.#timer = setInterval(() => this.#check(), this.#heartbeatMs);
    this.#timer.unref();
  }

  #check() {
    if (this.#pending.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    if (performance.now() - this.#heardAt <= MISSED_HEARTBEATS * this.#heartbeatMs)
      return this.#post({ command: "heartbeat", requestId: NO_REQUEST_ID });
    this.#silences += 1;
    if (this.#silences >= (this.#options.attempts ?? ATTEMPTS)) {
      this.#failAll(`no answer after ${this.#silences} attempts; ${guess(this.#options, this.#refused)}`);
      // The next call has all its attempts.
      this.#silences = 0;
      this.#heardAt = performance.now();
      return;
    }
    this.#connection.close();
    this.#connection = this.#connect();
    this.#heardAt = performance.now();
    this.#resend();
  }

  /** Requests keep their ids, so a server that already has one does not run it again. */
  #resend() {
    for (const pending of this.#pending.values()) {
      if (pending.upload)
        pending.answer.reject(
          new ToolError("INTERRUPTED", "the connection was lost during an upload; call again", {}),
        );
      else this.#post(pending.message);
    }
  }

  #failAll(reason: string) {
    for (const { answer } of this.#pending.values()) answer.reject(gone(this.#options.address, reason));
  }
}

/** Why a server may be silent. */
function guess({ address, keys }: ZmqClientOptions, refused: string | undefined): string {
  if (address.startsWith("tcp:") && !keys) return "a tcp server needs a copy of its key file: --keys FILE";
  return refused ?? `is octant serve --zmq running there${keys ? ", with these keys" : ""}?`;
}
