import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { createLineSplitter } from "@octant/core";

/** The largest message that a server may send; a larger one closes the connection. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
export const TOO_LARGE = `the server sent a message of more than ${MAX_MESSAGE_BYTES} bytes`;

/** A server's process, started by the caller under its own rules. */
export interface StartedProgram {
  readonly input: Writable;
  readonly output: Readable;
  /** Resolves with how it ended. */
  readonly exited: Promise<string>;
  /** The end of its stderr output. */
  stderrTail(): string;
  /** Ends it and all its child processes. */
  end(): Promise<void>;
}

/** Lines of JSON over the streams of a started program. */
export function createStdioTransport(start: () => Promise<StartedProgram>) {
  let program: StartedProgram | undefined;
  let closing: Promise<void> | undefined;
  let hasExited = false;
  let problem: string | undefined;
  const transport: Transport = {
    async start() {
      program = await start();
      const { output, exited } = program;
      if (closing) {
        // Closed while the program was being started: nobody else would end it.
        await program.end();
        throw new Error("the server was closed");
      }
      const split = createLineSplitter(
        {
          onLine(line) {
            if (closing) return;
            const message = parseMessage(line);
            // A line that is not JSON is misdirected log output; many servers print a greeting.
            if (message) transport.onmessage?.(message);
          },
          onOverflow() {
            problem = TOO_LARGE;
            output.destroy();
            void transport.close();
          },
        },
        MAX_MESSAGE_BYTES,
      );
      output.on("data", split);
      output.on("error", () => {});
      void exited.then(() => {
        hasExited = true;
        void transport.close();
      });
    },
    async send(message) {
      if (!program || closing) throw new Error("the server is not running");
      const { input } = program;
      const drained = () => new Promise((resolve) => void input.once("drain", resolve));
      if (!input.write(`${JSON.stringify(message)}\n`)) await Promise.race([drained(), program.exited]);
    },
    // Every caller waits for the end of the program: one that left earlier would leave it running.
    close: () => (closing ??= end()),
  };
  const end = async () => {
    await program?.end();
    transport.onclose?.();
  };
  return {
    transport,
    problem: () => problem,
    stderrTail: () => program?.stderrTail() ?? "",
    hasExited: () => hasExited,
  };
}

/** undefined for text that is not a message. */
export function parseMessage(text: string): JSONRPCMessage | undefined {
  try {
    const message: unknown = JSON.parse(text);
    // The SDK validates the rest of every message.
    return Object(message).jsonrpc === "2.0" ? (message as JSONRPCMessage) : undefined;
  } catch {
    return undefined;
  }
}
