import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import type { EdgesServer } from "./edges-server.ts";

const MODERN = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A read of the modern era. */
export const readMessage = (id: number, uri: string) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "fs", arguments: { action: "read", uri }, _meta: MODERN },
});

export const headersOf = (token: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "fs",
});

/** The text in the answer to a read; throws anything else. */
export function textOf(answer: string): string {
  const { result } = JSON.parse(answer);
  if (!result?.structuredContent.ok) throw new Error(answer.slice(0, 300));
  return result.structuredContent.data.text;
}

/** Posts over one connection. */
export function createPoster({ url }: Pick<EdgesServer, "url">) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    async post(
      body: string,
      headers: Record<string, string>,
    ): Promise<{ status: number; session: string; body: string }> {
      const { promise, resolve, reject } = Promise.withResolvers<{
        status: number;
        session: string;
        body: string;
      }>();
      const sent = request(url, {
        method: "POST",
        agent,
        headers: { ...headers, "content-length": Buffer.byteLength(body) },
      });
      sent.on("error", reject);
      sent.on("response", (response) => {
        const { statusCode: status = 0, headers: given } = response;
        const session = String(given["mcp-session-id"] ?? "");
        text(response).then((answer) => resolve({ status, session, body: answer }), reject);
      });
      sent.end(body);
      return promise;
    },
    close: () => agent.destroy(),
  };
}
