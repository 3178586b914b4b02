import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { createCursors, createDispatcher, createRegistry } from "@octant/core";
import { serveStdio } from "@octant/mcp";

const registry = createRegistry([]);
const dispatch = createDispatcher({
  registry,
  cursors: createCursors(randomBytes(32)),
  onBug: console.error,
});
const [input, output] = [new PassThrough(), new PassThrough()];
const server = serveStdio({
  registry,
  dispatch,
  input,
  output,
  name: "mine",
  version: "1.0.0",
  log: console.error,
});
output.on("data", (line) => console.log(String(line).trim()));
input.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
await server.closed;
