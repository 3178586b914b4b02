import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { MAX_MESSAGE_BYTES, type StartedProgram } from "./started-program.ts";

/** Lines of JSON over the streams of a started program. */
export function createStdioTransport(start: () => Promise<StartedProgram>): Transport {
  let program: StartedProgram | undefined;
  let isClosed = false;
  const transport: Transport = {
    async start() {
      program = await start();
      readLines(program.output, {
        onLine(line) {
          if (isClosed) return;
          const message = parseLine(line);
          // A line that is not JSON is misdirected log output; many servers print a greeting.
          if (message) transport.onmessage?.(message);
        },
        onTooLong() {
          transport.onerror?.(new Error(`the server sent a message of more than ${MAX_MESSAGE_BYTES} bytes`));
          void transport.close();
        },
      });
      void program.exited.then(() => void transport.close());
    },
    async send(message) {
      if (!program || isClosed) throw new Error("the server is not running");
      const { input } = program;
      if (!input.write(`${JSON.stringify(message)}\n`)) await Promise.race([drained(input), program.exited]);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      await program?.end();
      transport.onclose?.();
    },
  };
  return transport;
}

const drained = (stream: StartedProgram["input"]): Promise<void> =>
  new Promise((resolve) => void stream.once("drain", resolve));

interface LineHandlers {
  onLine(line: string): void;
  onTooLong(): void;
}

/** Calls back for each line; an endless line takes no more memory than a message may. */
function readLines(stream: StartedProgram["output"], { onLine, onTooLong }: LineHandlers): void {
  let pieces: Buffer[] = [];
  let length = 0;
  stream.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      onLine(Buffer.concat([...pieces, chunk.subarray(start, end)]).toString("utf8"));
      pieces = [];
      length = 0;
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    length += rest.length;
    if (length > MAX_MESSAGE_BYTES) {
      stream.destroy();
      pieces = [];
      onTooLong();
      return;
    }
    if (rest.length > 0) pieces.push(rest);
  });
  stream.on("error", () => {});
}

const LF = 0x0a;

function parseLine(line: string): JSONRPCMessage | undefined {
  try {
    const message: unknown = JSON.parse(line);
    // The SDK validates the rest of every message.
    return Object(message).jsonrpc === "2.0" ? (message as JSONRPCMessage) : undefined;
  } catch {
    return undefined;
  }
}
