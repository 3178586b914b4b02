import type { Writable } from "node:stream";
import type { MessageWriter } from "vscode-jsonrpc/node";

/**
 * Writes each message in one piece. The library's own writer sends the header first and waits for it to be taken, so
 * that the server is woken up twice; that is half of what a short question costs.
 */
export function createMessageWriter(
  rpc: typeof import("vscode-jsonrpc/node"),
  input: Writable,
): MessageWriter {
  return {
    // The exit event reports the server's failure.
    onError: rpc.Event.None,
    onClose: rpc.Event.None,
    async write(message) {
      const body = JSON.stringify(message);
      input.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    },
    end() {},
    dispose() {},
  };
}
