// The other half of the floor: a minimal server on the official SDK. Plain JavaScript, because stripping types would
// slow its start and flatter ours.
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const TOOLS = [{ name: "no_op", description: "Does nothing.", inputSchema: { type: "object" } }];

// With many calls in flight the SDK's transport waits for "drain" once per answer, and Node warns at the eleventh.
process.stdout.setMaxListeners(0);

let answer = { content: [{ type: "text", text: "" }] };

serveStdio(() => {
  const server = new Server({ name: "no-op", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: TOOLS }));
  server.setRequestHandler("tools/call", ({ params }) => {
    // Octant's answer is passed in once and then repeated, so that both sides send the same bytes.
    if (params.name === "remember") answer = params.arguments.answer;
    return answer;
  });
  return server;
});
