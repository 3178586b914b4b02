import { once } from "node:events";
import { get } from "node:https";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { makeCertificate } from "../../testing/certificate.ts";
import { modernRequest, serveDemo } from "../../testing/http.ts";

const echo = modernRequest(1, "tools/call", { name: "demo", arguments: { action: "echo", text: "x" } });

test("the server listens on the loopback address by default", async () => {
  const { server } = await serveDemo();
  expect(new URL(server.url).hostname).toBe("127.0.0.1");
});

test("an invalid message is refused with the right status, and the next call is answered", async () => {
  const { post, server, headers } = await serveDemo({ limits: { maxBodyBytes: 1_000 } });
  expect((await post("{")).status).toBe(400);
  expect((await post("[".repeat(500))).status).toBe(400);
  expect((await post(`"${"x".repeat(2_000)}"`)).status).toBe(413);
  expect((await post(echo.body, { ...echo.headers, "content-type": "text/plain" })).status).toBe(415);
  expect((await fetch(server.url, { method: "PUT", headers, body: "{}" })).status).toBe(405);
  expect((await fetch(new URL("/other", server.url), { headers })).status).toBe(404);
  expect((await post(echo.body, echo.headers)).status).toBe(200);
});

test("a browser that opens the address sees a page that says nothing about the project", async () => {
  const { server } = await serveDemo();
  const response = await fetch(new URL("/", server.url), { headers: { accept: "text/html" } });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/html/);
  expect(await response.text()).toContain(`<code>${server.url}</code>`);
  expect((await fetch(new URL("/", server.url), { method: "POST" })).status).toBe(401);
});

test("two Host headers are a bad request", async () => {
  const { server } = await serveDemo();
  const { port } = new URL(server.url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.end(
    `GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
  );
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
});

test("an oversized body is refused although its length was not announced", async () => {
  const { server, headers } = await serveDemo({ limits: { maxBodyBytes: 1_000 } });
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode(" ".repeat(400)));
    },
  });
  const answer = fetch(server.url, { method: "POST", headers, body, duplex: "half" } as RequestInit);
  await expect(answer.then((response) => response.status)).resolves.toBe(413);
});

test.each([
  { what: "headers", sent: "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n" },
  { what: "a body", sent: "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 10\r\n\r\n{" },
])("$what that do not come end the connection", async ({ sent }) => {
  const { server } = await serveDemo({ limits: { headersMs: 100, bodyMs: 150 } });
  const socket = connect(server.port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write(sent);
  expect(await text(socket)).toMatch(/^HTTP\/1.1 40[18]/);
});

test("connections per address are limited", async () => {
  const { server } = await serveDemo({ limits: { maxConnectionsPerAddress: 2 } });
  const open = async () => {
    const socket = connect(server.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  const [first] = [await open(), await open()];
  const third = await open();
  await once(third, "close");
  expect(first.destroyed).toBe(false);
});

test("a token that exceeds its rate has to wait", async () => {
  const { post } = await serveDemo({ limits: { requestsPerSecond: 3 } });
  const statuses = await Promise.all(
    Array.from({ length: 8 }, async () => (await post(echo.body, echo.headers)).status),
  );
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
  expect(statuses).toContain(200);
});

test("closing waits for running calls and accepts no new ones", async () => {
  const { post, server, waiting, options } = await serveDemo({ limits: { drainMs: 10_000 } });
  const wait = modernRequest("w", "tools/call", { name: "demo", arguments: { action: "wait" } });
  const answer = post(wait.body, wait.headers);
  await waiting.started;
  const closed = server.close();
  const late = await post(echo.body, echo.headers).then(
    (response) => response.status,
    () => "refused",
  );
  expect([503, "refused"]).toContain(late);
  await options.dispatch({ tool: "demo", action: "go", input: {} }, { caller: { id: "x", access: "admin" } });
  expect((await answer).status).toBe(200);
  await closed;
});

test("closing does not wait forever", async () => {
  const { post, server, waiting } = await serveDemo({ limits: { drainMs: 20 } });
  const wait = modernRequest("w", "tools/call", { name: "demo", arguments: { action: "wait" } });
  const answer = post(wait.body, wait.headers).catch(() => "gone");
  await waiting.started;
  await server.close();
  expect(await answer).toBe("gone");
  await expect.poll(() => waiting.cancelled).toBe(1);
});

test("with a certificate the server speaks TLS", async () => {
  const { server, token } = await serveDemo({ tls: makeCertificate() });
  expect(server.url).toMatch(/^https:/);
  const [response] = await once(
    get(server.url, { headers: { authorization: `Bearer ${token}` }, rejectUnauthorized: false }),
    "response",
  );
  expect(response.statusCode).toBe(405);
  response.destroy();
});

test("an allowed page gets CORS headers in the preflight and with the answer", async () => {
  const { server, post } = await serveDemo({ allowedOrigins: ["https://app.example"] });
  const origin = { origin: "https://app.example" };
  const asked = await fetch(server.url, { method: "OPTIONS", headers: origin });
  expect(asked.status).toBe(204);
  expect(asked.headers.get("access-control-allow-headers")).toContain("authorization");
  const answered = await post(echo.body, { ...echo.headers, ...origin });
  expect(answered.headers.get("access-control-allow-origin")).toBe("https://app.example");
});
