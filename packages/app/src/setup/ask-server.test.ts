import { expect, test } from "vitest";
import { listTools } from "./ask-server.ts";

/** A server that runs this script for each message after the handshake. */
const serve = (script: string) =>
  listTools({
    command: process.execPath,
    args: [
      "-e",
      `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method } = JSON.parse(line);
        const tool = (name) => ({ name, inputSchema: { type: "object" } });
        const answer = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
        if (method === "initialize")
          answer({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } });
        else if (method === "server/discover")
          console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown method" } }));
        else if (id !== undefined) { ${script} }
      })`,
    ],
    env: { GREETING: "hello" },
    cwd: process.cwd(),
  });

test("the tools are listed, whatever else the server sends in between", async () => {
  const tools = await serve(`
    console.log(JSON.stringify({ jsonrpc: "2.0", method: "notifications/message" }));
    answer({ tools: [tool("fs"), tool(process.env.GREETING)] });`);
  expect(tools).toEqual(["fs", "hello"]);
});

test("the server gets only the variables it is given", async () => {
  const names = await serve("answer({ tools: Object.keys(process.env).map(tool) })");
  expect(names).toEqual(["GREETING"]);
});

test.each([
  [
    "answers with an error",
    'console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -1, message: "out of order" } }))',
    /out of order/,
  ],
  ["has no tools", "answer({ tools: [] })", /lists no tools/],
])("a server that %s is a problem that says so", async (_, script, message) => {
  await expect(serve(script)).rejects.toThrow(message);
});

test("the reason of a server that ends at once is reported", async () => {
  const args = ["-e", "console.error('no such root'); process.exit(3)"];
  const start = { command: process.execPath, args, env: {}, cwd: process.cwd() };
  await expect(listTools(start)).rejects.toThrow(/ended before it answered; it wrote: no such root/);
});

test("a missing program is reported by name", async () => {
  const start = { command: "/nowhere/node", args: [], env: {}, cwd: process.cwd() };
  await expect(listTools(start)).rejects.toThrow(/cannot be started.*\/nowhere\/node/);
});

test("a server that does not exit when its stdin closes is killed", async () => {
  const [pid] = await serve(
    'setInterval(() => {}, 1000); process.on("SIGTERM", () => {}); answer({ tools: [tool(String(process.pid))] })',
  );
  expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH");
});
