import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { makeCertificate } from "../../testing/certificate.ts";
import { serveDemo } from "../../testing/http.ts";
import type { HttpOptions } from "./index.ts";

const LIMITS = { headersMs: 150, bodyMs: 300, firstMessageMs: 300 };
const NEVER_MS = 600_000;
const DRIP_MS = 20;

async function serve(over: Partial<HttpOptions> = {}) {
  const { server, token, post } = await serveDemo({ sse: true, limits: LIMITS, ...over });
  const open = async () => {
    const socket = connect(server.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  const authorized = (line: string, more = "") =>
    `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n${more}`;
  return { open, authorized, post, server };
}

/** Sends `first` at once and then a byte at a time, forever; resolves with the bytes received before the end. */
async function drip(socket: Socket, first: string | Buffer, byte = "a"): Promise<string> {
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
  });
  socket.write(first);
  const dripping = setInterval(() => socket.write(byte), DRIP_MS);
  await ended(socket);
  clearInterval(dripping);
  return received;
}

/** These clients write to closed connections; that is not a failure. */
async function ended(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("error", () => {});
  socket.once("close", () => resolve());
  await promise;
}

/** A client that keeps writing may lose the answer with the connection. */
const TIMED_OUT = /^$|408 Request Timeout/;

const POST = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
const UPGRADE = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "Sec-WebSocket-Protocol: mcp",
  "",
].join("\r\n");

test.each(["POST /mcp", "GET /mcp", "GET /sse", "POST /messages?sessionId=x", "GET /ws"])(
  "headers that come a byte at a time end the connection: %s",
  async (line) => {
    const { open, authorized } = await serve();
    const more = line.endsWith("/ws") ? UPGRADE : POST;
    expect(await drip(await open(), authorized(line, `${more}X-Slow: `))).toMatch(TIMED_OUT);
  },
);

test("a silent connection ends", async () => {
  const { open } = await serve();
  const socket = await open();
  await ended(socket.resume());
});

test.each(["Content-Length: 100000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n186a0\r\n{"])(
  "a body that comes a byte at a time ends the connection: %j",
  async (body) => {
    const { open, authorized, server } = await serve();
    const stream = await open();
    stream.write(authorized("GET /sse", "\r\n"));
    const [endpoint] = await once(stream, "data");
    const [, messages = ""] = /data: (\S+)/.exec(String(endpoint)) ?? [];
    for (const path of [new URL(server.url).pathname, messages])
      expect(await drip(await open(), authorized(`POST ${path}`, POST + body))).toMatch(TIMED_OUT);
  },
);

test("a refused client gets no time for a body", async () => {
  const { open } = await serve();
  const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${POST}Content-Length: 100000\r\n\r\n{`;
  expect(await drip(await open(), head)).toMatch(/^$|401 Unauthorized/);
});

/** A text frame of 100,000 bytes, masked with zeros, of which only the first arrives. */
const FRAME = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 1, 0x86, 0xa0, 0, 0, 0, 0, 0x7b]);
const PING = `{"jsonrpc":"2.0","id":1,"method":"ping"}`;
const WHOLE_FRAME = Buffer.concat([Buffer.from([0x81, 0x80 | PING.length, 0, 0, 0, 0]), Buffer.from(PING)]);

async function openWebSocket(keepAliveMs = NEVER_MS) {
  const { open, authorized } = await serve({ limits: { ...LIMITS, keepAliveMs } });
  const socket = await open();
  socket.write(authorized("GET /ws", `${UPGRADE}\r\n`));
  const [answer] = await once(socket, "data");
  expect(String(answer)).toContain("101 Switching Protocols");
  return socket;
}

test("a first frame that arrives a byte at a time ends the socket", async () => {
  expect(await drip(await openWebSocket(), FRAME)).toContain("no message arrived");
});

test("a later frame that arrives a byte at a time ends the socket, because it cannot answer a ping meanwhile", async () => {
  const socket = await openWebSocket(100);
  socket.write(WHOLE_FRAME);
  await once(socket, "data");
  await drip(socket, FRAME);
});

test("a socket that does not answer the close is terminated", async () => {
  const socket = await openWebSocket();
  const binary = Buffer.from([0x82, 0x81, 0, 0, 0, 0, 0x7b]);
  expect(await drip(socket, binary, "")).toContain("MCP is text");
});

test("an unfinished TLS handshake ends the connection", async () => {
  const { open } = await serve({ tls: makeCertificate() });
  // The start of a ClientHello of 512 bytes.
  await drip(await open(), Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]), "\u0000");
});

test("other clients are answered while many are slow", async () => {
  const { open, authorized, post } = await serve();
  const slow = await Promise.all(Array.from({ length: 200 }, open));
  // Listened to from now on: on a busy machine some end before the honest client is done.
  const endings = slow.map((socket) => ended(socket.resume()));
  for (const socket of slow) socket.write(authorized("POST /mcp", `${POST}Content-Length: 100000\r\n\r\n{`));
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "honest", version: "1" },
    },
  };
  for (let count = 0; count < 20; count++) expect((await post(initialize)).status).toBe(200);
  await Promise.all(endings);
});

test.each([
  ["nothing", ""],
  ["half a request", "GET / HTTP/1.1\r\nhost:"],
])(
  "a connection that sends %s is closed, with and without TLS; one that was answered stays",
  async (_, sent) => {
    for (const tls of [undefined, makeCertificate()]) {
      const { server, open } = await serve(tls && { tls });
      const secure = () => connectTls({ port: server.port, host: "127.0.0.1", rejectUnauthorized: false });
      const answered = tls ? secure() : await open();
      onTestFinished(() => void answered.destroy());
      answered.write(`GET / HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\n\r\n`);
      await once(answered, "data");
      const sockets = [await open(), tls ? secure() : await open()];
      for (const socket of sockets) socket.resume().on("error", () => {});
      sockets[1]?.write(sent);
      await Promise.all(sockets.map((socket) => once(socket, "close")));
      expect(answered.closed).toBe(false);
    }
  },
);
