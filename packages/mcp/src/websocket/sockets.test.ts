import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { modernRequest, serveDemo } from "../../testing/http.ts";
import type { Limits } from "../http/limits.ts";

async function openSocket(limits: Partial<Limits> = {}, options: ClientOptions = {}) {
  const demo = await serveDemo({ limits });
  const url = demo.server.url.replace("http", "ws").replace("/mcp", "/ws");
  const socket = new WebSocket(url, "mcp", { headers: demo.headers, ...options });
  onTestFinished(() => socket.terminate());
  const closed = once(socket, "close").then(([code]) => code as number);
  await once(socket, "open");
  const next = async () => JSON.parse(String((await once(socket, "message"))[0]));
  const send = (message: unknown) =>
    socket.send(typeof message === "string" ? message : JSON.stringify(message));
  return { ...demo, socket, url, closed, next, send };
}

const echo = (id: number, text: string) =>
  modernRequest(id, "tools/call", { name: "demo", arguments: { action: "echo", text } }).body;

test("each socket has its own conversation", async () => {
  const { socket, next, send } = await openSocket();
  expect(socket.protocol).toBe("mcp");
  send(echo(1, "x"));
  expect(await next()).toMatchObject({ id: 1, result: { structuredContent: { data: { text: "x" } } } });
});

test("binary frames are refused with 1003, and broken UTF-8 with 1007", async () => {
  const binary = await openSocket();
  binary.socket.send(Buffer.from("{}"));
  expect(await binary.closed).toBe(1003);
  const broken = await openSocket();
  broken.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
  expect(await broken.closed).toBe(1007);
});

test("an oversized message ends the connection with 1009", async () => {
  const { send, closed } = await openSocket({ maxBodyBytes: 1_000 });
  send("x".repeat(2_000));
  expect(await closed).toBe(1009);
});

test("invalid JSON is reported, and the next call is answered", async () => {
  const { next, send } = await openSocket();
  for (const text of ["{", "[".repeat(1_000), "\u0000"]) {
    send(text);
    expect(await next()).toMatchObject({ id: null, error: { code: -32700 } });
  }
  send(echo(2, "y"));
  expect(await next()).toMatchObject({ id: 2 });
});

test("a client that reads late is not answered faster than it reads, and loses nothing", async () => {
  const { socket, send } = await openSocket();
  // More at once would be refused as overload, if they were all read.
  const count = 400;
  const sizes = new Map<number, number>();
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("message", (data) => {
    const { id, result } = JSON.parse(String(data));
    sizes.set(id, result.structuredContent.data?.text.length);
    if (sizes.size === count) resolve();
  });
  socket.pause();
  const big = { name: "demo", arguments: { action: "big", size: 50_000 } };
  for (let id = 0; id < count; id++) send(modernRequest(id, "tools/call", big).body);
  socket.resume();
  await promise;
  expect(new Set(sizes.values())).toEqual(new Set([50_000]));
});

test("a silent socket is closed", async () => {
  const { closed } = await openSocket({ firstMessageMs: 20 });
  expect(await closed).toBe(1008);
});

test("a socket that does not answer a ping is closed", async () => {
  const { closed, send } = await openSocket({ keepAliveMs: 20 }, { autoPong: false });
  send(echo(1, "x"));
  expect(await closed).toBe(1006);
});

test("closing a socket cancels its calls", async () => {
  const { socket, send, waiting } = await openSocket();
  send(modernRequest(1, "tools/call", { name: "demo", arguments: { action: "wait" } }).body);
  await waiting.started;
  socket.close();
  await expect.poll(() => waiting.cancelled).toBe(1);
});

test("the server closes sockets with 1001 when it ends", async () => {
  const { server, closed } = await openSocket();
  await server.close();
  expect(await closed).toBe(1001);
});

test("a client that offers another subprotocol, or none, is refused", async () => {
  const { url, headers } = await openSocket();
  for (const protocols of [[], ["other"]]) {
    const socket = new WebSocket(url, protocols, { headers });
    const [cause] = await once(socket, "error");
    expect(cause.message).toContain("400");
  }
});
