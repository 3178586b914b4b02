import { frameStream, serveAcp } from "@octant/acp";
import { type AcpHostOptions, createAcpHost, type Octant } from "@octant/app";
import type { BridgeEndpoint, FrameOutlet, Identity } from "@octant/bridge";
import type { Caller } from "@octant/core";
import { parseJson } from "@octant/mcp";

const PARSE_ERROR = -32_700;

/** The tools over MCP: for jobs, refs and the audit log the owner is the caller. */
export const mcpEndpoint = (octant: Octant): BridgeEndpoint => ({
  open(identity, outlet) {
    const connection = octant.openConnection(toCaller(identity), {
      write: (message) => outlet.write(JSON.stringify(message)),
      isFull: () => outlet.isFull(),
    });
    return {
      receive: (text) => receiveJson(text, outlet, connection.receive),
      resume: connection.resume,
      close: connection.close,
    };
  },
});

/** The agent over ACP, with the owner's sessions. */
export const agentEndpoint = (options: AcpHostOptions): BridgeEndpoint => ({
  open(identity, outlet) {
    const { stream, receive, resume, end } = frameStream(outlet);
    const host = createAcpHost({ ...options, owner: toCaller(identity) });
    const server = serveAcp({ host, stream, remote: true });
    return {
      receive: (text) => receiveJson(text, outlet, receive),
      resume,
      async close() {
        end();
        server.close();
        await server.closed;
      },
    };
  },
});

const toCaller = ({ callerId, readOnly }: Identity): Caller => ({
  id: callerId,
  access: readOnly ? "read" : "write",
  remote: true,
});

function receiveJson(text: string, { write }: FrameOutlet, take: (value: unknown) => void): void {
  try {
    take(parseJson(text));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const error = { code: PARSE_ERROR, message: `Parse error: ${cause.message}` };
    write(JSON.stringify({ jsonrpc: "2.0", id: null, error }));
  }
}
