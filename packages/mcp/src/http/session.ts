import type { ServerResponse } from "node:http";
import type { Caller } from "@octant/core";
import { createEventStream, type EventStream } from "@octant/http";
import { createConnection, type Outlet } from "../connection.ts";
import { isAnswer, type RequestId, toMessage } from "../messages.ts";
import type { Service } from "../service.ts";
import { createEventLog } from "./event-log.ts";
import type { Limits } from "./limits.ts";
import { createReply, type Reply } from "./reply.ts";

/** A client of the handshake revisions, across its requests. */
export interface Session {
  readonly id: string;
  readonly caller: Caller;
  /** Handles a request; its answer, and everything before it, goes to the response. */
  request(value: unknown, response: ServerResponse): void;
  /** Handles a notification, or an answer to one of our requests. */
  receive(value: unknown): void;
  isRunning(id: RequestId): boolean;
  /** Opens the stream for messages without a request. False when there is one already. */
  listen(response: ServerResponse): boolean;
  /** Continues the stream after that event. False when there is no such stream. */
  resume(response: ServerResponse, lastEventId: string): boolean;
  /** The time of its last use, by `performance.now`; now, while a request is pending. */
  usedAt(): number;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly id: string;
  readonly service: Service;
  readonly limits: Limits;
  /** The revision requested in the handshake. */
  readonly version: string;
  /** Called when the handshake was answered: with a session, or with an error and without one. */
  readonly onHandshake: (accepted: boolean) => void;
}

/** An unanswered request. */
interface Pending {
  readonly id: RequestId;
  readonly streamId: string;
  reply: Reply;
}

const STANDALONE = "0";
/** Older clients mistake an event without data for broken JSON. */
const PRIMED_SINCE = "2025-11-25";
const RETRY_MS = 500;

export function createSession(options: SessionOptions): Session {
  const { id: sessionId, service, limits, version, onHandshake } = options;
  const headers = { "mcp-session-id": sessionId };
  const log = createEventLog(limits.maxEventLogBytes);
  const pending = new Map<RequestId, Pending>();
  let standalone: EventStream | undefined;
  let usedAt = performance.now();
  let streams = 0;
  let handshake: RequestId | undefined;

  const outlet: Outlet = {
    write(message, about) {
      const line = JSON.stringify(message);
      const post = about === undefined ? undefined : pending.get(about);
      if (!post) broadcast(line);
      else if (isAnswer(message)) finish(post, line, "result" in message);
      else report(post, line);
    },
    isFull() {
      for (const { reply } of pending.values()) if (reply.isFull()) return true;
      return standalone?.isFull() ?? false;
    },
    get hasListener() {
      return standalone !== undefined;
    },
  };
  const connection = createConnection(service, outlet);

  const broadcast = (line: string) => {
    const eventId = log.add(STANDALONE, line);
    standalone?.send(line, eventId);
  };
  const report = ({ reply, streamId }: Pending, line: string) => {
    const store = () => log.add(streamId, line);
    // A client that resumes the stream gets it then.
    if (reply.isGone()) store();
    else reply.report(line, store);
  };
  const finish = (post: Pending, line: string, isResult: boolean) => {
    pending.delete(post.id);
    usedAt = performance.now();
    if (post.id === handshake) {
      handshake = undefined;
      onHandshake(isResult);
    }
    post.reply.finish(line, () => log.add(post.streamId, line));
  };
  const prime = (stream: EventStream, post: Pending) => {
    if (version < PRIMED_SINCE) return;
    stream.prime(log.add(post.streamId, ""), RETRY_MS);
    setTimeout(() => post.reply.cut(), limits.maxStreamMs).unref();
  };

  return {
    id: sessionId,
    caller: service.caller,
    request(value, response) {
      const message = toMessage(value);
      if (message?.id === undefined) return;
      usedAt = performance.now();
      if (message.method === "initialize") handshake = message.id;
      const post: Pending = {
        id: message.id,
        streamId: (++streams).toString(36),
        reply: createReply(response, {
          limits,
          takesStream: message.method !== "initialize",
          headers,
          onStream: (stream) => prime(stream, post),
        }),
      };
      pending.set(message.id, post);
      connection.receive(value);
    },
    receive(value) {
      usedAt = performance.now();
      connection.receive(value);
    },
    isRunning: (id) => pending.has(id),
    listen(response) {
      if (standalone) return false;
      openStandalone(response);
      return true;
    },
    resume(response, lastEventId) {
      const streamId = log.streamOf(lastEventId);
      if (streamId === undefined) return false;
      const post = [...pending.values()].find((one) => one.streamId === streamId);
      const missed = log.after(lastEventId);
      const stream = streamId === STANDALONE ? openStandalone(response) : openStream(response);
      for (const { id, line } of missed) stream.send(line, id);
      if (post) post.reply = toReply(stream, response);
      else if (streamId !== STANDALONE) stream.end();
      return true;
    },
    usedAt: () => (pending.size > 0 || standalone ? performance.now() : usedAt),
    async close() {
      await connection.close();
      standalone?.end();
      for (const { reply } of pending.values()) reply.cut();
      pending.clear();
    },
  };

  function openStream(response: ServerResponse): EventStream {
    usedAt = performance.now();
    return createEventStream(response, { keepAliveMs: limits.keepAliveMs, headers });
  }

  function openStandalone(response: ServerResponse): EventStream {
    standalone?.end();
    const stream = openStream(response);
    standalone = stream;
    response.once("close", () => {
      if (standalone === stream) standalone = undefined;
      usedAt = performance.now();
    });
    return stream;
  }
}

/** A resumed stream that replaces the broken response. */
const toReply = (stream: EventStream, response: ServerResponse): Reply => ({
  report: (line, toEventId) => stream.send(line, toEventId?.()),
  finish(line, toEventId) {
    stream.send(line, toEventId?.());
    stream.end();
  },
  cut: stream.end,
  isFull: stream.isFull,
  isGone: () => response.destroyed,
});
