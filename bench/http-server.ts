// A floor over HTTP, in its own process: `node http-server.ts tool`, `handler` or `bare`, with the result to repeat
// on stdin. Prints one line of JSON when it listens, like `octant serve --http --json`.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

const [role] = process.argv.slice(2);
const SERVERS: Readonly<Record<string, () => Promise<object>>> = { tool, handler, bare };
console.log(JSON.stringify(await SERVERS[role ?? ""]?.()));

/** A tool that does nothing, written as in the official SDK's documentation, on its own adapter for node:http. */
async function tool() {
  const { createMcpHandler, McpServer } = await import("@modelcontextprotocol/server");
  const { toNodeHandler } = await import("@modelcontextprotocol/node");
  const { z } = await import("zod");
  const answer = (await json(process.stdin)) as never;
  // Created once: per request only the SDK's own objects are created.
  const config = { description: "Does nothing.", inputSchema: z.looseObject({ action: z.string() }) };
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "no-op", version: "1.0.0" });
    server.registerTool("fs", config, () => answer);
    return server;
  });
  return listen(toNodeHandler(handler));
}

/** The same without a tool: the minimum of the SDK, which validates no arguments. */
async function handler() {
  const { createMcpHandler, Server } = await import("@modelcontextprotocol/server");
  const { toNodeHandler } = await import("@modelcontextprotocol/node");
  const answer = (await json(process.stdin)) as never;
  const handler = createMcpHandler(() => {
    const server = new Server({ name: "no-op", version: "1.0.0" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({ tools: [] }));
    server.setRequestHandler("tools/call", () => answer);
    return server;
  });
  return listen(toNodeHandler(handler));
}

/** Hand-written for speed only. */
async function bare() {
  const answer = JSON.stringify(await json(process.stdin));
  return listen((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
      const { "mcp-method": named, "mcp-name": name } = request.headers;
      if (named !== method || name !== params.name) return void response.writeHead(400).end();
      const body = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${answer}}`;
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
      });
      response.end(body);
    });
  });
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, token: "none" };
}
