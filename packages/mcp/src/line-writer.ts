import type { Writable } from "node:stream";

/** Writes lines to a stream that may be slow, or gone. */
export interface LineWriter {
  /** Lines of one tick leave in one write. */
  write(line: string): void;
  /** Resolves when what was written has left, the stream has failed, or `withinMs` have passed. */
  flush(withinMs: number): Promise<void>;
}

export interface WriterHandlers {
  /** The stream asks to wait until `onDrain`. */
  readonly onFull: () => void;
  readonly onDrain: () => void;
  /** The reader is gone; whatever is written from now on is dropped. */
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
  // These stay for the stream's life: a late EPIPE without a listener would end the process.
  output.on("error", leave);
  output.on("close", () => leave());
  output.on("drain", handlers.onDrain);

  return {
    write(line) {
      if (gone) return;
      // nextTick runs after the promises of this turn, so answers that are ready together go together.
      if (waiting === "") process.nextTick(send);
      // Joined by the engine when they are written, and not once before.
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
