import { type Context, Dealer, type SocketOptions } from "zeromq";
import type { Link, LinkEvents } from "../hoot01/client.ts";
import { MAX_BODY_BYTES } from "../hoot01/frames.ts";
import type { WireKeys } from "./keys.ts";

/** Requests buffered by the socket; further ones wait here. */
const HIGH_WATER_MARK = 1_000;
/** How long a closed connection may take to send its buffer. */
const LINGER_MS = 100;

/** One DEALER socket and its send queue: a socket allows one send at a time. */
export class Connection implements Link {
  readonly #socket: Dealer;
  readonly #outbox: Uint8Array[][] = [];
  #sending = false;

  constructor(address: string, keys: WireKeys | undefined, context: Context, events: LinkEvents) {
    this.#socket = new Dealer({
      context,
      linger: LINGER_MS,
      sendHighWaterMark: HIGH_WATER_MARK,
      receiveHighWaterMark: HIGH_WATER_MARK,
      maxMessageSize: MAX_BODY_BYTES,
      ...toCurveOptions(keys),
    });
    this.#socket.events.on("handshake", () => events.connected());
    this.#socket.events.on("disconnect", () => events.disconnected());
    this.#socket.connect(address);
  }

  [Symbol.asyncIterator]() {
    return this.#socket[Symbol.asyncIterator]();
  }

  send(frames: Uint8Array[]) {
    this.#outbox.push(frames);
    if (!this.#sending) void this.#pump();
  }

  close() {
    this.#outbox.length = 0;
    this.#socket.close();
  }

  async #pump() {
    this.#sending = true;
    try {
      for (let frames = this.#outbox.shift(); frames; frames = this.#outbox.shift())
        await this.#socket.send(frames);
    } catch {
      // Closed: the client sends again on the next connection.
    } finally {
      this.#sending = false;
    }
  }
}

const toCurveOptions = (keys: WireKeys | undefined): SocketOptions<Dealer> =>
  keys?.kind === "curve"
    ? {
        curveServerKey: keys.server.publicKey,
        curvePublicKey: keys.client.publicKey,
        curveSecretKey: keys.client.secretKey,
      }
    : {};
