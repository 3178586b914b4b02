import { onTestFinished } from "vitest";
import { Context, Dealer } from "zeromq";
import { encodeFrames, parseFrames } from "../src/hoot01/frames.ts";
import { encodeMsgPack, parseMsgPack } from "../src/msgpack/codec.ts";

export type RawPeer = ReturnType<typeof connectRaw>;

/** A peer that sends arbitrary frames, and that reads and acknowledges only what the test says. */
export function connectRaw(address: string, more: object = {}) {
  const socket = new Dealer({ context: new Context(), linger: 0, receiveTimeout: 30_000, ...more });
  socket.connect(address);
  onTestFinished(() => socket.close());
  const send = (frames: readonly Uint8Array[]) => socket.send([...frames]);
  return {
    send,
    async receive() {
      const { message } = parseFrames(await socket.receive(), { routed: false });
      const value = message.contentType === "msgpack" ? parseMsgPack(message.body) : undefined;
      return { ...message, value: value as Record<string, unknown> | undefined };
    },
    /** Sends a message about a running request: an acknowledgement, or an answer. */
    tell: (n: number, news: object) =>
      send(
        encodeFrames({
          command: "heartbeat",
          contentType: "msgpack",
          requestId: requestId(n),
          body: encodeMsgPack(news),
        }),
      ),
    close: () => socket.close(),
  };
}

export const requestId = (n: number) => Buffer.alloc(16, n + 1);

export const request = (n: number, value: unknown) =>
  encodeFrames({
    command: "request",
    contentType: "msgpack",
    requestId: requestId(n),
    body: encodeMsgPack(value),
  });
