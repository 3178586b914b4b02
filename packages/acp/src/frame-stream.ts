import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";

/** The destination of a connection's frames, one message each. */
export interface FrameSink {
  write(frame: string): void;
  isFull(): boolean;
}

/** A stream for clients that send whole messages, such as over WebSocket. */
export function frameStream(sink: FrameSink): {
  readonly stream: Stream;
  receive(message: unknown): void;
  /** Call when the sink is no longer full. */
  resume(): void;
  end(): void;
} {
  let incoming: ReadableStreamDefaultController<AnyMessage> | undefined;
  let drained = Promise.withResolvers<void>();
  let isEnded = false;
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      incoming = controller;
    },
  });
  const writable = new WritableStream<AnyMessage>({
    async write(message) {
      sink.write(JSON.stringify(message));
      while (sink.isFull() && !isEnded) await drained.promise;
    },
  });
  return {
    stream: { readable, writable },
    receive(message) {
      // The connection rejects values that are not messages.
      if (!isEnded) incoming?.enqueue(message as AnyMessage);
    },
    resume() {
      drained.resolve();
      drained = Promise.withResolvers();
    },
    end() {
      if (isEnded) return;
      isEnded = true;
      drained.resolve();
      incoming?.close();
    },
  };
}
