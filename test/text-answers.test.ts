import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { startOctant } from "./octant-process.ts";

/** `octant serve --answers text` as a client starts it, and its answers to calls. */
async function open() {
  const project = createFixtureProject();
  const child = startOctant(["serve", "--answers", "text"], { cwd: project.root, env: project.env });
  const close = async () => {
    child.stdin.end();
    await once(child, "exit");
    project[Symbol.dispose]();
  };
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  let id = 0;
  const request = async (method: string, params: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params })}\n`);
    return JSON.parse((await lines.next()).value ?? "").result;
  };
  await request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  });
  const call = async (name: string, args: object) => {
    const result = await request("tools/call", { name, arguments: args });
    expect(result).not.toHaveProperty("structuredContent");
    expect(result.content).toHaveLength(1);
    return String(result.content[0].text);
  };
  return { request, call, close };
}

let server: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  server = await open();
});
afterAll(() => server.close());

test("text answers are written for a model: the content unchanged, then one line with the handles", async () => {
  const { request, call } = server;
  for (const tool of (await request("tools/list", {})).tools) expect(tool).not.toHaveProperty("outputSchema");
  const read = await call("fs", { action: "read", uri: "src/main.ts" });
  expect(read).toMatch(/^[^{][\s\S]*\n\[hash [0-9a-f]{12}\]$/);
  expect(await call("fs", { action: "read", uri: "src/main.ts", lines: "1" })).toMatch(
    /\n\[lines 1-1 of \d+; hash /,
  );
  expect(await call("fs", { action: "search_text", pattern: "answer" })).toMatch(
    /^src\/main\.ts:\d+: .*answer/,
  );
  expect(await call("fs", { action: "list" })).toMatch(/^(?:\S+\n)*src\/(?:\n|$)/);
  expect(await call("proc", { action: "exec", command: "echo out; exit 3" })).toMatch(
    /^out\n\[exit 3 after \d+ ms\]$/,
  );
  expect(await call("fs", { action: "read", uri: "nowhere.ts" })).toMatch(
    /^NOT_FOUND: nowhere\.ts does not exist; /,
  );
  expect(await call("code", { action: "outline", uri: "src/main.ts" })).toMatch(
    /^src\/main\.ts:\d+:\d+: .*#answer/,
  );
});

test("range and lines in one call are refused", async () => {
  const { call } = server;
  const range = { start: { line: 0 }, end: { line: 1 } };
  expect(await call("fs", { action: "read", uri: "src/main.ts", lines: "1", range })).toMatch(
    /^INVALID_ARGUMENT: give range or lines/,
  );
});

test("a long test run says how to wait for its result", async () => {
  const { call } = server;
  await call("fs", {
    action: "write",
    uri: "slow.test.js",
    content: 'require("node:test")("slow", (t, done) => setTimeout(done, 60_000));\n',
  });
  expect(await call("test", { action: "run", filter: "slow.test.js" })).toMatch(
    /^running: .*\n\[job\.poll waits for the result.*; job job_\w+\]$/,
  );
});
