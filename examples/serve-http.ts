// MCP over HTTP, with a read-only token.
import { createOctant } from "@octant/app";

await using octant = createOctant({ projectPath: import.meta.dirname });
const server = await octant.serveHttp({ port: 0 });
const { id, token } = octant.tokens().create({ scopes: ["admin:ro"], name: "example" });

interface Told {
  readonly data: { readonly text: string } | null;
  readonly error: { readonly code: string } | null;
}

const call = async (args: object): Promise<Told> => {
  const response = await fetch(server.url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "fs",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "fs",
        arguments: args,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    }),
  });
  // The result of tools/call.
  const { result } = (await response.json()) as { result: { structuredContent: Told } };
  return result.structuredContent;
};

console.log((await call({ action: "read", uri: "README.md" })).data?.text.split("\n")[0]);
console.log((await call({ action: "write", uri: "new.txt", content: "x" })).error?.code);
octant.tokens().revoke(id);
await server.close();
