import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { attempt, type NamedTopic, ToolError, type Topics, viewOf } from "@octant/core";
import { readLines } from "@octant/host";
import type { Attend } from "./attend.ts";
import {
  type ControlAnswer,
  type ControlCallAnswer,
  type ControlReply,
  ControlRequest,
  type ProcessStatus,
} from "./protocol.ts";

export interface ControlOptions {
  /** Private to the person; see `openSocketFolder`. */
  readonly folder: string;
  /** The file name of the socket. */
  readonly name: string;
  readonly topics: Topics;
  status(): ProcessStatus;
  /** Throws a ToolError when the question does not wait, or the answer does not fit. */
  answer(question_id: string, answer: ControlAnswer): void;
  /** Sends batches of events until the signal aborts. */
  readonly attend: Attend;
  /** The reply to a call of another process of this person. */
  call(request: CallRequest, signal: AbortSignal): Promise<ControlCallAnswer>;
  log(line: string): void;
}

export type CallRequest = Extract<ControlRequest, { method: "call" }>;

/** Above this a reader that does not keep up waits, and loses events. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Lets other processes of the same person see and answer this one: `octant ps`, `watch` and `answer`. */
export function serveControl(options: ControlOptions): Disposable {
  const path = join(options.folder, options.name);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    serveSocket(socket, options);
  });
  server.once("error", (cause) => options.log(`octant ps cannot show this process: ${cause.message}`));
  // The folder is already private; this protects the socket if its mode is changed. A removed socket harms nobody.
  server.listen(path, () => attempt(() => chmodSync(path, 0o600)));
  // The control socket does not keep the process alive.
  server.unref();
  return {
    [Symbol.dispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      rmSync(path, { force: true });
    },
  };
}

function serveSocket(socket: Socket, options: ControlOptions): void {
  const ended = new AbortController();
  socket.unref();
  socket.once("close", () => ended.abort());
  // A reader that goes away in the middle is normal.
  socket.on("error", () => socket.destroy());
  const send = async (reply: ControlReply): Promise<void> => {
    if (ended.signal.aborted) return;
    socket.write(`${JSON.stringify(reply)}\n`);
    if (socket.writableLength > MAX_WAITING_BYTES)
      await once(socket, "drain", { signal: ended.signal }).catch(() => {});
  };
  const calls = new Map<number, AbortController>();
  const call = async (request: CallRequest): Promise<ControlCallAnswer> => {
    const cancelled = new AbortController();
    calls.set(request.id, cancelled);
    try {
      return await options.call(request, AbortSignal.any([ended.signal, cancelled.signal]));
    } finally {
      calls.delete(request.id);
    }
  };
  const take = (request: ControlRequest): unknown => {
    switch (request.method) {
      case "status":
        return options.status();
      case "answer":
        return options.answer(request.question_id, request.answer);
      case "call":
        return call(request);
      case "cancel":
        return void calls.get(request.call)?.abort();
      case "attend":
        return options.attend(
          (batch) => void send({ batch }),
          () => socket.writableLength,
          ended.signal,
          request.after,
        );
      case "follow":
        return follow(request, options.topics, send, ended.signal);
    }
  };
  const reply = async (request: ControlRequest): Promise<void> => {
    const { id } = request;
    try {
      await send({ id, result: (await take(request)) ?? {} });
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      await send({ id, error: { code: cause.code, message: cause.message } });
    }
  };
  readLines(socket, (line) => {
    const request = parseRequest(line);
    if (!request) {
      socket.destroy();
      return;
    }
    void reply(request);
  });
}

const parseRequest = (line: string): ControlRequest | undefined =>
  attempt(() => ControlRequest.parse(JSON.parse(line)));

/** Sends the events of each topic until the reader leaves; also of topics of tools that are added later. */
function follow(
  { topics: wanted, retained }: Extract<ControlRequest, { method: "follow" }>,
  topics: Topics,
  send: (reply: ControlReply) => Promise<void>,
  signal: AbortSignal,
): void {
  const followed = new Set<NamedTopic["events"]>();
  const followOne = async (topic: string, named: NamedTopic) => {
    const { events } = named;
    const onDropped = (dropped: number) =>
      void send({ event: { topic, seq: events.nextSeq, at: Date.now(), dropped } });
    const from = retained ? 0 : events.nextSeq;
    for await (const event of events.follow(from, signal, undefined, onDropped))
      await send({ event: { ...viewOf(named, event), topic, seq: event.seq, at: event.at } });
  };
  const look = () => {
    for (const [topic, named] of Object.entries(topics.all())) {
      if (followed.has(named.events) || (wanted && !wanted.includes(topic))) continue;
      followed.add(named.events);
      void followOne(topic, named);
    }
  };
  look();
  const stop = topics.get("tools")?.events.listen(look);
  signal.addEventListener("abort", () => stop?.(), { once: true });
}
