import type { ServerResponse } from "node:http";
import { createEventStream, type EventStream } from "@octant/http";
import { createConnection, type Outlet } from "../connection.ts";
import { isAnswer, type RequestId, toMessage } from "../messages.ts";
import type { Service } from "../service.ts";
import { createEventLog } from "./event-log.ts";
import type { Limits } from "./limits.ts";
import { PostReply } from "./reply.ts";

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
  reply: PostReply;
}

const STANDALONE = "0";
/** Older clients mistake an event without data for broken JSON. */
const PRIMED_SINCE = "2025-11-25";
const RETRY_MS = 500;

/** A client of the handshake revisions, across its requests. */
export type Session = ReturnType<typeof createSession>;

export function createSession(options: SessionOptions) {
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
  const openStream = (response: ServerResponse): EventStream => {
    usedAt = performance.now();
    return createEventStream(response, { keepAliveMs: limits.keepAliveMs, headers });
  };
  const openStandalone = (response: ServerResponse): EventStream => {
    standalone?.end();
    const stream = openStream(response);
    standalone = stream;
    response.once("close", () => {
      if (standalone === stream) standalone = undefined;
      usedAt = performance.now();
    });
    return stream;
  };

  return {
    id: sessionId,
    caller: service.caller,
    /** Handles a request; its answer, and everything before it, goes to the response. */
    request(value: unknown, response: ServerResponse): void {
      const message = toMessage(value);
      if (message?.id === undefined) return;
      usedAt = performance.now();
      if (message.method === "initialize") handshake = message.id;
      const post: Pending = {
        id: message.id,
        streamId: (++streams).toString(36),
        reply: new PostReply(response, {
          limits,
          takesStream: message.method !== "initialize",
          headers,
          onStream: (stream) => prime(stream, post),
        }),
      };
      pending.set(message.id, post);
      connection.receive(value);
    },
    /** Handles a notification, or an answer to one of our requests. */
    receive(value: unknown): void {
      usedAt = performance.now();
      connection.receive(value);
    },
    isRunning: (id: RequestId): boolean => pending.has(id),
    /** Opens the stream for messages without a request. False when there is one already. */
    listen(response: ServerResponse): boolean {
      if (standalone) return false;
      openStandalone(response);
      return true;
    },
    /** Continues the stream after that event. False when there is no such stream. */
    resume(response: ServerResponse, lastEventId: string): boolean {
      const streamId = log.streamOf(lastEventId);
      if (streamId === undefined) return false;
      const post = [...pending.values()].find((one) => one.streamId === streamId);
      const missed = log.after(lastEventId);
      const resumed = streamId === STANDALONE ? openStandalone(response) : openStream(response);
      for (const { id, line } of missed) resumed.send(line, id);
      if (post) post.reply = new PostReply(response, { limits, takesStream: true, resumed });
      else if (streamId !== STANDALONE) resumed.end();
      return true;
    },
    /** The time of its last use, by `performance.now`; now, while a request is pending. */
    usedAt: (): number => (pending.size > 0 || standalone ? performance.now() : usedAt),
    async close(): Promise<void> {
      await connection.close();
      standalone?.end();
      for (const { reply } of pending.values()) reply.cut();
      pending.clear();
    },
  };
}
