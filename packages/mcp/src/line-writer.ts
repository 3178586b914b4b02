import type { Writable } from "node:stream";

/** Writes lines to a stream that may be slow or closed. */
export interface LineWriter {
  /** Lines of one tick are written together. */
  write(line: string): void;
  /** Resolves when everything was written, the stream has failed, or `withinMs` have passed. */
  flush(withinMs: number): Promise<void>;
}

export interface WriterHandlers {
  /** The stream is full until `onDrain`. */
  readonly onFull: () => void;
  readonly onDrain: () => void;
  /** The reader is gone; further writes are dropped. */
  readonly onGone: (cause: Error | undefined) => void;
}

export function createLineWriter(output: Writable, handlers: WriterHandlers): LineWriter {
  let waiting = "";
  let gone = false;

  const send = () => {
    if (waiting === "") return;
    const text = waiting;
    waiting = "";
    if (gone || output.write(text)) return;
    handlers.onFull();
  };
  const leave = (cause?: Error) => {
    if (gone) return;
    gone = true;
    waiting = "";
    handlers.onGone(cause);
  };
  // These stay for the stream's lifetime: a late EPIPE without a listener would crash the process.
  output.on("error", leave);
  output.on("close", () => leave());
  output.on("drain", handlers.onDrain);

  return {
    write(line) {
      if (gone) return;
      // nextTick runs after the promises of this turn, so answers that are ready together are sent together.
      if (waiting === "") process.nextTick(send);
      // The engine joins the rope once, when it is written.
      waiting += `${line}\n`;
    },
    async flush(withinMs) {
      send();
      if (gone || output.writableLength === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, withinMs);
      output.once("error", resolve);
      output.once("close", resolve);
      output.write("", () => resolve());
      await promise;
      clearTimeout(timer);
    },
  };
}
