import { randomUUID } from "node:crypto";
import { ownAction, ToolError, toTraceId } from "@octant/core";
import type { Router } from "zeromq";
import {
  overloaded,
  parseRequest,
  type RequestEnvelope,
  type ResponseEnvelope,
  refusal,
} from "../envelopes.ts";
import { findRequestId, type Message, parseFrames, toKey } from "../hoot01/frames.ts";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import { createQuestions, type Questions } from "../questions.ts";
import { toReady } from "../ready.ts";
import { runRequest } from "../run-request.ts";
import { createUpload, type Upload } from "../upload.ts";
import { createWindow, type Window } from "../window.ts";
import { encodeBody, invalid, isZero, parseBody, parseReady } from "./message-bodies.ts";
import { createPeers, type Peer } from "./peers.ts";
import type { OutgoingMessage } from "./pending-request.ts";
import { createRecentReplies } from "./recent-replies.ts";
import type { ZmqServerOptions } from "./server.ts";
import { openFrames, sealFrames } from "./signature.ts";

/** A tool sends chunks of 16 KiB, so at most 1 MiB is in flight. */
const RAW_WINDOW = 64;

const MAX_CALLS_IN_FLIGHT = 256;

/** A running request. */
interface Running {
  peer: Peer;
  readonly controller: AbortController;
  readonly window: Window;
  readonly questions: Questions;
  readonly upload: Upload | undefined;
}

/** Answers the messages of all peers of one socket. */
export class MessageServer {
  readonly #options: ZmqServerOptions;
  readonly #router: Router;
  /** The address of the PUB socket. */
  readonly #broadcast: string | undefined;
  readonly #heartbeatMs: number;
  readonly #serverId = randomUUID();
  readonly #running = new Map<string, Running>();
  readonly #recent = createRecentReplies();
  readonly #peers;

  constructor(options: ZmqServerOptions, router: Router, broadcast: string | undefined, heartbeatMs: number) {
    this.#options = options;
    this.#router = router;
    this.#broadcast = broadcast;
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
      const { identities, message } = parseFrames(openFrames(frames, 1, this.#options.keys), {
        routed: true,
      });
      const peer = this.#peers.heard(identities);
      this.#take(peer, message);
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      // UNAUTHENTICATED peers get the refusal too, but nothing else about the server.
      this.#refuse(this.#peers.heard([identity]), findRequestId(frames), cause);
    }
  }

  #take(peer: Peer, message: Message) {
    const { command, requestId } = message;
    if (command === "request") return this.#request(peer, message);
    if (command === "ready") return this.#announce(peer, message);
    if (command === "heartbeat") return this.#heartbeat(peer, message);
    if (command === "disconnect") return this.#disconnect(peer, requestId);
    throw invalid("frame 1", "a server does not accept Reply; send Request, Heartbeat, Ready or Disconnect");
  }

  #announce(peer: Peer, { requestId, contentType, body }: Message) {
    const wanted = contentType === "empty" ? {} : parseReady(parseBody(contentType, body));
    const ready = toReady(this.#options, wanted, {
      server_id: this.#serverId,
      heartbeat_ms: this.#heartbeatMs,
      ...(this.#broadcast !== undefined && { broadcast: this.#broadcast }),
    });
    const answer = encodeMsgPack(ready);
    void this.#send(peer, { command: "ready", contentType: "msgpack", requestId, body: answer });
  }

  /** A heartbeat about a request acknowledges chunks or answers a question; any other is a ping. */
  #heartbeat(peer: Peer, { requestId, contentType, body }: Message) {
    peer.beats = true;
    const running = this.#running.get(toKey(requestId));
    if (contentType === "msgpack" && running) {
      const news = parseMsgPack(body);
      if (typeof news !== "object" || news === null) return;
      if ("received" in news) running.window.acknowledge(Number(news.received));
      if ("question_id" in news) running.questions.answer(news.question_id, news);
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
    const seen = this.#recent.see(key, body);
    if (seen === "reused")
      throw invalid("frame 3", "this request id belongs to another request; use 16 random bytes for each");
    // The retry of a running request: its answer goes to the client's new connection.
    if (seen === "running") return this.#redirect(peer, key);
    if (seen !== "new") return void this.#reply(peer, requestId, seen);
    try {
      const request = parseRequest(parseBody(contentType, body));
      if (peer.calls >= MAX_CALLS_IN_FLIGHT) throw overloaded(MAX_CALLS_IN_FLIGHT);
      this.#checkServer(request);
      void this.#run(peer, message, key, request);
    } catch (cause) {
      this.#recent.forget(key);
      throw cause;
    }
  }

  /** An earlier server may have run the request: reading again is harmless, a second change is not. */
  #checkServer({ server_id, request: { tool, action } }: RequestEnvelope) {
    if (typeof server_id !== "string" || server_id === this.#serverId) return;
    const found = this.#options.registry.get(tool);
    const access = found && ownAction(found, String(action))?.access;
    if (access === undefined || access === "read") return;
    const message = "the server was restarted during the call; look at what it did before you call again";
    throw new ToolError("INTERRUPTED", message, {});
  }

  #redirect(peer: Peer, key: string) {
    const running = this.#running.get(key);
    if (!running) return;
    running.peer.calls -= 1;
    peer.calls += 1;
    running.peer = peer;
    running.questions.repeat();
  }

  #uploaded(key: string, bytes: Uint8Array) {
    const upload = this.#running.get(key)?.upload;
    if (!upload)
      throw invalid("frame 3", "no upload with this request id; send the Request with upload_bytes first");
    upload.push(bytes);
  }

  async #run(peer: Peer, message: Message, key: string, request: RequestEnvelope): Promise<void> {
    const { requestId, traceparent } = message;
    const acknowledge = (received: number) => {
      const body = encodeMsgPack({ received });
      void this.#send(running.peer, { command: "heartbeat", contentType: "msgpack", requestId, body });
    };
    const size = request.upload_bytes ?? undefined;
    const running: Running = {
      peer,
      controller: new AbortController(),
      window: createWindow(request.window ?? RAW_WINDOW),
      questions: createQuestions(),
      upload: size === undefined ? undefined : createUpload(size, acknowledge),
    };
    this.#running.set(key, running);
    peer.calls += 1;
    try {
      const { signal } = running.controller;
      const upload = running.upload?.toPart(signal);
      const context = { traceparent, signal, ...(upload && { upload }) };
      const response = await runRequest(this.#options, request, context, {
        reply: (one) => this.#reply(running.peer, requestId, encodeMsgPack(one)),
        raw: (bytes) =>
          this.#send(running.peer, { command: "reply", contentType: "raw", requestId, body: bytes }),
        window: running.window,
        questions: running.questions,
        isPaced: typeof request.window === "number",
      });
      this.#finish(running, key, requestId, response);
    } catch (cause) {
      // The dispatcher never rejects; a stream does when its reader disconnects.
      const error =
        cause instanceof ToolError ? cause : new ToolError("CANCELLED", "the stream was cancelled", {});
      this.#finish(running, key, requestId, refusal(error, toTraceId(traceparent), request.request.tool));
    } finally {
      running.questions.close();
      this.#running.delete(key);
      running.peer.calls -= 1;
    }
  }

  #finish(running: Running, key: string, requestId: Uint8Array, response: ResponseEnvelope) {
    const body = encodeBody(response);
    this.#recent.finish(key, body);
    void this.#reply(running.peer, requestId, body);
  }

  #refuse(peer: Peer, requestId: Uint8Array, cause: ToolError) {
    void this.#reply(peer, requestId, encodeMsgPack(refusal(cause, toTraceId(undefined))));
  }

  #reply(peer: Peer, requestId: Uint8Array, body: Uint8Array): Promise<boolean> {
    return this.#send(peer, { command: "reply", contentType: "msgpack", requestId, body });
  }

  /** False when the peer is gone or does not read: the socket refuses at once, and never delays another peer. */
  async #send(peer: Peer, message: OutgoingMessage): Promise<boolean> {
    const frames = sealFrames(message, this.#options.keys);
    try {
      await this.#router.send([...peer.identities, ...frames]);
      return true;
    } catch {
      return false;
    }
  }
}
