import { join } from "node:path";
import { expect, test } from "vitest";
import { serveDemo } from "../packages/mcp/testing/http.ts";
import { node, open, textOf } from "../packages/mcp-client/testing/open.ts";

const DEMO = join(import.meta.dirname, "../packages/mcp/testing/server.ts");

test("a program of the newer era is started, listed and called", async () => {
  const { settled, stateOf, names, call } = open({ demo: node(DEMO) });
  await settled();
  expect(stateOf("demo")).toMatchObject({ state: "ready", protocol: "2026-07-28", tools: 1, changed: 0 });
  expect(names()).toEqual(["mcp__demo__demo"]);
  expect(textOf(await call("mcp__demo__demo", { action: "echo", text: "é" }))).toBe("é");
});

test.each([
  ["streamable HTTP", "", "/mcp"],
  ["WebSocket", "ws", "/ws"],
  ["the older SSE", "", "/sse"],
])("a server behind %s is listed and called with its token", async (_, scheme, path) => {
  const { server, token } = await serveDemo({ sse: true });
  const url = server.url.replace("http", scheme || "http").replace("/mcp", path);
  const { settled, names, call, stateOf } = open({
    demo: { url, headers: { authorization: `Bearer ${token}` } },
  });
  await settled();
  expect(stateOf("demo")).toMatchObject({ state: "ready" });
  expect(names()).toEqual(["mcp__demo__demo"]);
  expect(textOf(await call("mcp__demo__demo", { action: "echo", text: "x" }))).toBe("x");
});

test("a server that refuses the token asks for a sign-in, with instructions", async () => {
  const { server } = await serveDemo();
  const { settled, stateOf, client } = open({
    web: { url: server.url, headers: { authorization: "Bearer wrong" } },
  });
  await settled();
  expect(stateOf("web")).toMatchObject({ state: "needs_login" });
  await expect(client("web")).rejects.toMatchObject({
    code: "UNAUTHENTICATED",
    message: expect.stringContaining("octant mcp login web"),
  });
});
