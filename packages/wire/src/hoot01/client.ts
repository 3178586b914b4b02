import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import {
  type Call,
  type CallOptions,
  type Client,
  createClient,
  type Reply,
  type Tool,
  ToolError,
} from "@octant/core";
import { orRefusal, toReply, toRequest, type WireCallOptions } from "../envelopes.ts";
import { encodeMsgPack } from "../msgpack/codec.ts";
import type { ServerReady } from "../ready.ts";
import type { WireKeys } from "../zmq/keys.ts";
import { parseFrames, toKey } from "./frames.ts";
import { MISSED_HEARTBEATS } from "./peers.ts";
import { type OutgoingMessage, PendingRequest, toToolError } from "./pending-request.ts";
import { openFrames, sealFrames } from "./signature.ts";

export interface WireClientOptions {
  /** Names the server in errors. */
  readonly address: string;
  readonly keys?: WireKeys;
  readonly heartbeatMs?: number;
  /** The silence of a server after which it gets a new connection; three heartbeats when absent. */
  readonly silenceMs?: number;
  /** Requests every answer as text, too. */
  readonly text?: boolean;
  /** How often a silent server is retried, on a new connection, before calls fail with UPSTREAM_ERROR. */
  readonly attempts?: number;
  /** The messages that a server may send in a second; more of them fail all calls. Unlimited when absent. */
  readonly maxMessagesPerSecond?: number;
  /** The server was silent for all attempts, or sent too much; every pending call has failed. */
  readonly onGone?: (reason: string) => void;
}

/** A connection to a server, which reconnects by itself. */
export interface Link extends AsyncIterable<readonly Uint8Array[]> {
  send(frames: Uint8Array[]): void;
  /** While there is no server yet that could be silent; a failure to open is reported. */
  isOpening?(): boolean;
  close(): void;
}

export interface LinkEvents {
  /** It reached a server: at first, and after each reconnect. */
  connected(): void;
  /** With a reason when there was no server, so that calls need not wait for one; an error of ours is theirs. */
  disconnected(reason?: string | ToolError): void;
}

export interface Linked {
  connect(events: LinkEvents): Link;
  /** Why a server may be silent. */
  explainSilence(): string;
}

const HEARTBEAT_MS = 1_000;
const ATTEMPTS = 3;
const SECOND_MS = 1_000;
const MESSAGES_IN_A_ROW = 64;

/** Node buffers random bytes for UUIDs, so this takes a tenth of the time of randomBytes. */
const newRequestId = (): Buffer => Buffer.from(randomUUID().replaceAll("-", ""), "hex");

/** A dispatcher in another process. */
export class WireClient {
  readonly #options: WireClientOptions & Linked;
  readonly #pending = new Map<string, PendingRequest>();
  readonly #heartbeatMs: number;
  #connection: Link;
  #heardAt = performance.now();
  #silences = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  /** The server that requests are sent to, when it is known. */
  #serverId: string | undefined;
  /** Why the last message of the server could not be read. */
  #refused: string | undefined;

  constructor(options: WireClientOptions & Linked) {
    this.#options = options;
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
    this.#connection = this.#connect();
  }

  /** The server's announcement; `declarations` also requests the schemas of its tools. */
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

  /** It never rejects; a missing server is UPSTREAM_ERROR. */
  readonly dispatch = (call: Call, options: WireCallOptions): Promise<Reply> =>
    orRefusal(call, options, async () => {
      const traceparent = typeof options.traceparent === "string" ? options.traceparent : "";
      const known = { server_id: this.#serverId, text: this.#options.text };
      const body = encodeMsgPack(toRequest(call, options, known));
      const about = { service: call.tool, traceparent };
      const answer = await this.#ask({ command: "request", contentType: "msgpack", ...about, body }, options);
      if ("response" in answer) return toReply(answer.response);
      throw new ToolError("UPSTREAM_ERROR", "the server answers a call with Ready", {});
    });

  /** `client.tools<CasTool>().cas.store({ content })`: typed by the declarations, which are types only here. */
  tools<T extends Tool>(defaults: WireCallOptions = {}): Client<T> {
    // The server gives a call without a caller its own.
    return createClient<T>(this.dispatch, defaults as CallOptions);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#post({ command: "disconnect" });
    this.#connection.close();
    this.#failAll("the client was closed");
  }

  async #ask(message: OutgoingMessage, options: WireCallOptions) {
    if (this.#closed) throw this.#gone("the client is closed");
    const requestId = newRequestId();
    const key = toKey(requestId);
    const pending = new PendingRequest(message, options, (one) => this.#post({ ...one, requestId }));
    this.#pending.set(key, pending);
    this.#watch();
    return pending.run().finally(() => this.#pending.delete(key));
  }

  #connect(): Link {
    let isReconnect = false;
    const connection: Link = this.#options.connect({
      connected: () => {
        if (this.#closed || connection !== this.#connection) return;
        // The link reconnected by itself: the requests it had sent to the old server are lost.
        if (isReconnect) this.#resend();
        // Learns which server this is; a failure shows in the calls.
        if (isReconnect) this.ready().catch(() => {});
        isReconnect = true;
      },
      disconnected: (reason) => {
        this.#serverId = undefined;
        if (reason !== undefined && connection === this.#connection) this.#failAll(reason);
      },
    });
    void this.#read(connection);
    return connection;
  }

  async #read(connection: Link): Promise<void> {
    const { maxMessagesPerSecond = Number.POSITIVE_INFINITY } = this.#options;
    let [since, messages] = [performance.now(), 0];
    for await (const frames of connection) {
      messages += 1;
      // A server that never stops sending must not keep everything else waiting.
      if (messages % MESSAGES_IN_A_ROW === 0) {
        await setImmediate();
        if (performance.now() - since > SECOND_MS) [since, messages] = [performance.now(), 0];
        if (messages > maxMessagesPerSecond) {
          connection.close();
          return this.#fail(`sent more than ${maxMessagesPerSecond} messages in a second`);
        }
      }
      try {
        const opened = openFrames(frames, 0, this.#options.keys);
        const { message } = parseFrames(opened.frames, { routed: false });
        this.#pending.get(toKey(message.requestId))?.take(message);
        this.#heardAt = performance.now();
        this.#silences = 0;
      } catch (cause) {
        // A server with other keys, or none, counts as silent, and the calls eventually fail.
        if (!(cause instanceof ToolError)) throw cause;
        this.#refused = cause.message;
      }
    }
  }

  #post(message: OutgoingMessage): void {
    this.#connection.send(sealFrames(message, this.#options.keys));
  }

  /** Lazy Pirate: while a request is pending, a silent server gets a new connection and the same requests again. */
  #watch(): void {
    if (this.#timer) return;
    this.#heardAt = performance.now();
    this.#timer = setInterval(() => this.#check(), this.#heartbeatMs);
    this.#timer.unref();
    // From here on silence means that this client is gone, also when its last message is lost.
    this.#post({ command: "heartbeat" });
  }

  #check() {
    if (this.#pending.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = performance.now();
    if (this.#connection.isOpening?.()) {
      this.#heardAt = now;
      return;
    }
    if (now - this.#heardAt <= (this.#options.silenceMs ?? MISSED_HEARTBEATS * this.#heartbeatMs))
      return this.#post({ command: "heartbeat" });
    this.#silences += 1;
    this.#heardAt = now;
    if (this.#silences >= (this.#options.attempts ?? ATTEMPTS)) {
      this.#fail(
        `no answer after ${this.#silences} attempts; ${this.#refused ?? this.#options.explainSilence()}`,
      );
      // The next call has all its attempts.
      this.#silences = 0;
      return;
    }
    this.#connection.close();
    this.#connection = this.#connect();
    this.#resend();
  }

  #resend(): void {
    for (const pending of this.#pending.values()) pending.resend();
  }

  #fail(reason: string): void {
    this.#failAll(reason);
    this.#options.onGone?.(reason);
  }

  #failAll(reason: string | ToolError): void {
    const failure = typeof reason === "string" ? this.#gone(reason) : reason;
    for (const pending of this.#pending.values()) pending.fail(failure);
  }

  #gone(reason: string): ToolError {
    return new ToolError("UPSTREAM_ERROR", `${this.#options.address}: ${reason}`, {});
  }
}
