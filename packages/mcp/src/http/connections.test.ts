import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTokenStore } from "@octant/http";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { modernRequest, serveDemo } from "../../testing/http.ts";

const wait = modernRequest("w", "tools/call", { name: "demo", arguments: { action: "wait" } });
const listen = modernRequest("l", "subscriptions/listen", { notifications: { toolsListChanged: true } });
const handshake = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** The demo, with `revoke` as another process does it. */
async function serveRevocable() {
  const demo = await serveDemo({ sse: true });
  const [{ id = "" } = {}] = demo.tokens.list();
  const revoke = () => createTokenStore({ folder: demo.folder }).revoke(id);
  const get = async (path: string, more: Record<string, string> = {}) => {
    const response = await fetch(new URL(path, demo.server.url), { headers: { ...demo.headers, ...more } });
    expect(response.status).toBe(200);
    return toEnd(response);
  };
  return { ...demo, revoke, get };
}

/** Resolves when the response ends in any way. */
const toEnd = (response: Response): Promise<string> => response.text().catch(() => "cut");

async function openSocket({ server, headers }: Awaited<ReturnType<typeof serveRevocable>>) {
  const socket = new WebSocket(server.url.replace("http", "ws").replace("/mcp", "/ws"), "mcp", { headers });
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  return socket;
}

test("open HTTP responses end when their token is revoked, and their calls are cancelled", async () => {
  const demo = await serveRevocable();
  const { post, get, revoke, waiting } = demo;
  const opened = await post(handshake);
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  await opened.text();
  const ends = [
    get("/sse"),
    get("/mcp", session),
    post(listen.body, listen.headers).then(toEnd),
    post(wait.body, wait.headers).then(toEnd, () => "cut"),
  ];
  await waiting.started;
  revoke();
  await Promise.all(ends);
  await expect.poll(() => waiting.cancelled).toBe(1);
  expect((await post({ jsonrpc: "2.0", id: 2, method: "ping" }, session)).status).toBe(401);
});

test("a socket learns that its token was revoked, and accepts nothing after that", async () => {
  const demo = await serveRevocable();
  const socket = await openSocket(demo);
  socket.send(JSON.stringify(wait.body));
  await demo.waiting.started;
  const closed = once(socket, "close");
  demo.revoke();
  const [code, reason] = await closed;
  expect([code, String(reason)]).toEqual([1008, "the token is no longer valid"]);
  await expect.poll(() => demo.waiting.cancelled).toBe(1);
});

test("calls in a session end with its token, even if nobody waits for them", async () => {
  const { post, revoke, waiting } = await serveRevocable();
  const opened = await post(handshake);
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const gone = new AbortController();
  const params = { name: "demo", arguments: { action: "wait" } };
  const call = post({ jsonrpc: "2.0", id: 2, method: "tools/call", params }, session, gone.signal);
  await waiting.started;
  gone.abort();
  await expect(call).rejects.toThrow();
  expect(waiting.cancelled).toBe(0);
  revoke();
  await expect.poll(() => waiting.cancelled).toBe(1);
});

test("revoking one token does not affect others", async () => {
  const demo = await serveRevocable();
  const other = demo.tokens.create({ scopes: ["admin"] });
  const theirs = await openSocket({
    ...demo,
    headers: { ...demo.headers, authorization: `Bearer ${other.token}` },
  });
  const ours = await openSocket(demo);
  demo.revoke();
  await once(ours, "close");
  const answer = once(theirs, "message");
  theirs.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }));
  expect(JSON.parse(String((await answer)[0]))).toMatchObject({ id: 1, result: {} });
});

test("with an unreadable token file every request is refused, and the server stays up", async () => {
  const { post, folder, server } = await serveRevocable();
  const file = join(folder, "tokens.json");
  writeFileSync(file, "{");
  const ping = modernRequest(1, "server/discover");
  const status = async () => (await post(ping.body, ping.headers)).status;
  await expect.poll(status).toBe(503);
  const { token } = createTokenStore({ folder: join(folder, "others") }).create({ scopes: ["admin"] });
  const answer = await fetch(server.url, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(503);
});
