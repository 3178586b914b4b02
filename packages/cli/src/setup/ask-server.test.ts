import { expect, test } from "vitest";
import { listTools } from "./ask-server.ts";

/** A server that runs this script for each message. */
const serve = (script: string) =>
  listTools({
    command: process.execPath,
    args: [
      "-e",
      `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method } = JSON.parse(line);
        const answer = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
        ${script}
      })`,
    ],
    env: { GREETING: "hello" },
    cwd: process.cwd(),
  });

test("the tools are listed, whatever else the server sends in between", async () => {
  const tools = await serve(`
    console.log(JSON.stringify({ jsonrpc: "2.0", method: "notifications/message" }));
    if (method === "initialize") answer({});
    if (method === "tools/list") answer({ tools: [{ name: "fs" }, { name: process.env.GREETING }] });`);
  expect(tools).toEqual(["fs", "hello"]);
});

test("the server gets only the variables it is given", async () => {
  const names = await serve("answer({ tools: Object.keys(process.env).map((name) => ({ name })) })");
  expect(names).toEqual(["GREETING"]);
});

test.each([
  [
    "ends with its reason",
    "console.error('no such root'); process.exitCode = 3; process.stdin.destroy()",
    /exit code 3.*no such root/,
  ],
  ["prints something else", "console.log('Listening…')", /not an MCP message: Listening…/],
  [
    "answers with an error",
    'console.log(JSON.stringify({ id, error: { code: -1, message: "no" } }))',
    /"message":"no"/,
  ],
  ["has no tools", "answer({ tools: [] })", /lists no tools/],
])("a server that %s is a problem that says so", async (_, script, message) => {
  await expect(serve(script)).rejects.toThrow(message);
});

test("a missing program is reported by name", async () => {
  const start = { command: "/nowhere/node", args: [], env: {}, cwd: process.cwd() };
  await expect(listTools(start)).rejects.toThrow(/cannot be started.*\/nowhere\/node/);
});

test("a server that does not exit when its stdin closes is killed", async () => {
  const tools = await serve(
    'setInterval(() => {}, 1000); process.on("SIGTERM", () => {}); answer({ tools: [{ name: "fs" }] })',
  );
  expect(tools).toEqual(["fs"]);
});
