import { randomUUID } from "node:crypto";
import { ownAction, ToolError, toTraceId } from "@octant/core";
import { overloaded, parseRequest, type RequestEnvelope, refusal } from "../envelopes.ts";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import { type CallQuestions, createCallQuestions } from "../questions.ts";
import { createAnnouncer } from "../ready.ts";
import type { ReplyChannel } from "../reply-stream.ts";
import { type RequestRunner, runRequest } from "../run-request.ts";
import { createUpload, type Upload } from "../upload.ts";
import { createWindow, type Window } from "../window.ts";
import type { WireKeys } from "../zmq/keys.ts";
import { findRequestId, type Message, parseFrames, toKey } from "./frames.ts";
import { encodeBody, invalid, isZero, parseBody, parseReady } from "./message-bodies.ts";
import { createPeers, MISSED_HEARTBEATS, type Peer } from "./peers.ts";
import { createRecentReplies, type RecentReply } from "./recent-replies.ts";
import { createSender, type Sender } from "./sender.ts";
import { openFrames } from "./signature.ts";

/** A tool sends chunks of 16 KiB, so at most 1 MiB is in flight. */
const RAW_WINDOW = 64;

const MAX_CALLS_IN_FLIGHT = 256;

export interface MessageServerOptions extends RequestRunner {
  readonly keys?: WireKeys;
  readonly name: string;
  readonly version: string;
  readonly instructions?: string;
}

/** The messages of all peers, each with the frames of its peer in front: a ROUTER, or a stream. */
export interface MessageSocket extends AsyncIterable<readonly Buffer[]> {
  /** Rejects with the code EAGAIN when the queue of the peer is full, and otherwise when the peer is gone. */
  send(frames: Uint8Array[]): Promise<void>;
}

/** A running request, or an answer whose bytes are sent again. */
interface Running {
  readonly requestId: Uint8Array;
  /** The connection of its client: the newest one on which the request came. */
  peer: Peer;
  onRetry: () => void;
  readonly controller: AbortController;
  readonly window: Window;
  readonly questions: CallQuestions;
  readonly upload: Upload | undefined;
}

/** Answers the messages of all peers of one socket. */
export class MessageServer {
  readonly #options: MessageServerOptions;
  readonly #socket: MessageSocket;
  readonly #sender: Sender;
  readonly #heartbeatMs: number;
  readonly #serverId = randomUUID();
  readonly #running = new Map<string, Running>();
  readonly #recent = createRecentReplies();
  readonly #closing = new AbortController();
  readonly #peers;
  readonly #announcer;

  /** `broadcast` is the address of the PUB socket. */
  constructor(
    options: MessageServerOptions,
    socket: MessageSocket,
    broadcast: string | undefined,
    heartbeatMs: number,
  ) {
    this.#options = options;
    this.#socket = socket;
    this.#sender = createSender(socket, options.keys);
    this.#heartbeatMs = heartbeatMs;
    this.#peers = createPeers(heartbeatMs, (peer) => this.#leave(peer));
    this.#announcer = createAnnouncer(options, {
      server_id: this.#serverId,
      heartbeat_ms: heartbeatMs,
      ...(broadcast !== undefined && { broadcast }),
    });
  }

  async run(): Promise<void> {
    for await (const frames of this.#socket) this.#receive(frames);
  }

  close(): void {
    this.#closing.abort();
    this.#peers.close();
    this.#announcer.close();
    for (const { controller } of this.#running.values())
      controller.abort(new ToolError("CANCELLED", "the server stops", {}));
  }

  #receive(frames: readonly Buffer[]) {
    const identity = frames[0];
    if (!identity) return;
    try {
      const { frames: opened, signedAt } = openFrames(frames, 1, this.#options.keys);
      const { identities, message } = parseFrames(opened, { routed: true });
      this.#take(this.#peers.heard(identities), message, signedAt);
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      // UNAUTHENTICATED peers get the refusal too, but nothing else about the server.
      this.#refuse(this.#peers.heard([identity]), findRequestId(frames), cause);
    }
  }

  #take(peer: Peer, message: Message, signedAt: number | undefined) {
    const { command, requestId } = message;
    if (command === "request") return this.#request(peer, message, signedAt);
    if (command === "ready") return this.#announce(peer, message);
    if (command === "heartbeat") return this.#heartbeat(peer, message);
    if (command === "disconnect") return this.#disconnect(peer, requestId);
    throw invalid("frame 1", "a server does not accept Reply; send Request, Heartbeat, Ready or Disconnect");
  }

  #announce(peer: Peer, { requestId, contentType, body }: Message) {
    const wanted = contentType === "empty" ? {} : parseReady(parseBody(contentType, body));
    const answer = this.#announcer.announce(wanted);
    void this.#sender.send(peer, { command: "ready", contentType: "msgpack", requestId, body: answer });
  }

  /** One about a request acknowledges chunks or answers a question; any other is a ping, which has to continue. */
  #heartbeat(peer: Peer, { requestId, contentType, body }: Message) {
    if (contentType !== "msgpack") {
      peer.beats = true;
      return void this.#sender.send(peer, { command: "heartbeat", requestId });
    }
    const update = parseMsgPack(body);
    const running = this.#runningOf(peer, requestId);
    if (!running || typeof update !== "object" || update === null) return;
    if ("received" in update) running.window.acknowledge(Number(update.received));
    if ("question_id" in update) running.questions.answer(update.question_id, update);
  }

  /** A request belongs to the connection on which it came last. */
  #runningOf(peer: Peer, requestId: Uint8Array): Running | undefined {
    const running = this.#running.get(toKey(requestId));
    return running?.peer === peer ? running : undefined;
  }

  /** With a request id it cancels that request; without one the peer leaves. */
  #disconnect(peer: Peer, requestId: Uint8Array) {
    if (isZero(requestId)) return this.#peers.remove(peer);
    const cancelled = new ToolError("CANCELLED", "the caller cancelled the call", {});
    this.#runningOf(peer, requestId)?.controller.abort(cancelled);
  }

  #leave(peer: Peer) {
    for (const running of this.#running.values())
      if (running.peer === peer) running.controller.abort(new ToolError("CANCELLED", "the caller left", {}));
  }

  #request(peer: Peer, message: Message, signedAt: number | undefined) {
    const { requestId, contentType, body } = message;
    const key = toKey(requestId);
    if (contentType === "raw") return this.#uploaded(peer, requestId, body);
    if (isZero(requestId))
      throw invalid("frame 3", "a Request needs a request id of its own, 16 random bytes");
    const seen = this.#recent.see(key, body, signedAt);
    if (seen === "reused")
      throw invalid("frame 3", "this request id belongs to another request; use 16 random bytes for each");
    if (seen === "forgotten") throw forgotten();
    // The retry of a running request: its answer goes to the client's new connection.
    const running = this.#running.get(key);
    if (running) return this.#redirect(peer, running);
    if (seen === "running") return;
    if (seen !== "new") return void this.#repeat(peer, key, requestId, seen);
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
    const message = "the server was restarted during the call; check what it did before you call again";
    throw new ToolError("INTERRUPTED", message, {});
  }

  #redirect(peer: Peer, running: Running) {
    running.peer.calls -= 1;
    peer.calls += 1;
    running.peer = peer;
    running.onRetry();
    running.questions.repeat();
  }

  #uploaded(peer: Peer, requestId: Uint8Array, bytes: Uint8Array) {
    const upload = this.#runningOf(peer, requestId)?.upload;
    if (!upload)
      throw invalid("frame 3", "no upload with this request id; send the Request with upload_bytes first");
    upload.push(bytes);
  }

  async #run(peer: Peer, message: Message, key: string, request: RequestEnvelope): Promise<void> {
    const { requestId, traceparent } = message;
    const acknowledge = (received: number) => {
      const body = encodeMsgPack({ received });
      void this.#sender.send(running.peer, {
        command: "heartbeat",
        contentType: "msgpack",
        requestId,
        body,
      });
    };
    const size = request.upload_bytes ?? undefined;
    const upload = size === undefined ? undefined : createUpload(size, acknowledge);
    const running = this.#start(peer, key, requestId, request.window ?? RAW_WINDOW, upload);
    const { signal } = running.controller;
    try {
      const part = upload?.toPart(signal);
      const context = { traceparent, signal, ...(part && { upload: part }) };
      const channel = this.#channelOf(running, typeof request.window === "number");
      const { response, repeat } = await runRequest(this.#options, request, context, channel);
      await this.#finish(running, key, { body: encodeBody(response), repeat });
    } catch (cause) {
      // The dispatcher never rejects; a stream does when its reader disconnects.
      const error =
        cause instanceof ToolError ? cause : new ToolError("CANCELLED", "the stream was cancelled", {});
      const refused = refusal(error, toTraceId(traceparent), request.request.tool);
      await this.#finish(running, key, { body: encodeMsgPack(refused) });
    } finally {
      this.#end(running, key);
    }
  }

  /** Sends the bytes of an answer again, and then its last reply. */
  async #repeat(peer: Peer, key: string, requestId: Uint8Array, { body, repeat }: RecentReply) {
    const running = this.#start(peer, key, requestId, RAW_WINDOW);
    try {
      await repeat?.(this.#channelOf(running, true), running.controller.signal);
      await this.#deliver(running, body);
    } catch (cause) {
      if (cause instanceof ToolError) this.#refuse(running.peer, requestId, cause);
    } finally {
      this.#end(running, key);
    }
  }

  #start(peer: Peer, key: string, requestId: Uint8Array, window: number, upload?: Upload): Running {
    const running: Running = {
      requestId,
      peer,
      onRetry: () => {},
      controller: new AbortController(),
      window: createWindow(window),
      questions: createCallQuestions(),
      upload,
    };
    this.#running.set(key, running);
    peer.calls += 1;
    return running;
  }

  #end(running: Running, key: string) {
    running.questions.close();
    this.#running.delete(key);
    running.peer.calls -= 1;
  }

  #channelOf(running: Running, isPaced: boolean): ReplyChannel {
    const { requestId, window, questions } = running;
    return {
      send: (contentType, body, signal) =>
        this.#sender.deliverAnywhere(running, { command: "reply", contentType, requestId, body }, signal),
      window,
      questions,
      isPaced,
      patienceMs: MISSED_HEARTBEATS * this.#heartbeatMs,
      onRetry: (listener) => {
        running.onRetry = listener;
      },
    };
  }

  async #finish(running: Running, key: string, reply: RecentReply): Promise<void> {
    this.#recent.finish(key, reply);
    await this.#deliver(running, reply.body);
  }

  /** A client that is gone gets the reply when it sends its request again. */
  async #deliver(running: Running, body: Uint8Array): Promise<void> {
    const { requestId } = running;
    const message = { command: "reply", contentType: "msgpack", requestId, body } as const;
    await this.#sender.deliver(running, message, this.#closing.signal).catch(() => false);
  }

  #refuse(peer: Peer, requestId: Uint8Array, cause: ToolError) {
    const body = encodeMsgPack(refusal(cause, toTraceId(undefined)));
    void this.#sender.send(peer, { command: "reply", contentType: "msgpack", requestId, body });
  }
}

const forgotten = () =>
  new ToolError(
    "INTERRUPTED",
    "this request was answered, but its reply is no longer stored; check what it did before you call again",
    {},
  );
