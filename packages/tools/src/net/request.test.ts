import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listen, startTestServer, type TestServer } from "../../testing/net/http-server.ts";
import { createNetWorkspace, type NetWorkspace } from "../../testing/net/net-workspace.ts";

type Route = (request: IncomingMessage, response: ServerResponse) => unknown;

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const answer =
  (body: string | Buffer, headers: Record<string, string | string[]> = {}, status = 200): Route =>
  (_, response) =>
    response.writeHead(status, headers).end(body);

const ROUTES: Record<string, Route> = {
  "/text": answer("hello", { "content-type": "text/plain" }),
  "/json": answer('{"items":[{"id":1,"a b":"x"},{"id":2}],"__proto__":{"x":1}}', {
    "content-type": "application/json",
  }),
  "/big": answer("0123456789\n".repeat(10_000), { "content-type": "text/plain" }),
  "/bytes": answer(Buffer.from([0, 1, 2, 255]), { "content-type": "application/octet-stream" }),
  "/big-bytes": answer(Buffer.alloc(100_000), { "content-type": "application/octet-stream" }),
  "/pixel": answer(PIXEL, { "content-type": "image/png" }),
  "/missing": answer("no such page", { "content-type": "text/plain" }, 404),
  "/latin": answer(Buffer.from("gr\xfc\xdfe", "latin1"), {
    "content-type": "text/plain; charset=iso-8859-1",
  }),
  "/meta": answer(Buffer.from("<meta charset=windows-1252><p>\x80", "latin1"), {
    "content-type": "text/html",
  }),
  "/page": answer("<title>T</title><nav>menu</nav><h1>Head</h1><p>Text <a href=/x>link</a>", {
    "content-type": "text/html",
  }),
  "/cookie": answer("", { "set-cookie": ["session=CANARY-1; HttpOnly; Path=/", "plain"] }),
  "/deep": answer(`${"[".repeat(100_000)}${"]".repeat(100_000)}`, { "content-type": "application/json" }),
  "/broken-json": answer("<html>", { "content-type": "application/json" }),
  "/many-headers": (_, response) => {
    for (let n = 0; n < 500; n++) response.setHeader(`x-${n}`, "v".repeat(20));
    response.end();
  },
  "/huge-headers": answer("", { "x-huge": "v".repeat(100_000) }),
  "/echo": async (request, response) => {
    const { method, headers } = request;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ method, headers, body: await text(request) }));
  },
  "/cut": (_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("part", () => response.destroy());
  },
  "/silent": () => {},
  "/drip": (_, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write("x"), 5);
    response.on("close", () => clearInterval(drip));
  },
};

let server: TestServer;
let ws: NetWorkspace;
beforeAll(async () => {
  server = await startTestServer((request, response) => {
    const route = ROUTES[request.url?.split("?")[0] ?? ""];
    return route ? route(request, response) : response.writeHead(500).end();
  });
  ws = createNetWorkspace();
});
afterAll(async () => {
  await ws.close();
  await server.close();
});

const get = (path: string, more: object = {}) => ws.ok("request", { url: server.origin + path, ...more });
const fail = (path: string, more: object = {}) => ws.fail("request", { url: server.origin + path, ...more });

test("a body comes as text, JSON, bytes or a picture, by its content type", async () => {
  expect(await get("/text")).toMatchObject({
    status: 200,
    text: "hello",
    size: 5,
    truncated: false,
    redirects: 0,
  });
  expect((await get("/json")).json.items).toEqual([{ id: 1, "a b": "x" }, { id: 2 }]);
  expect(await get("/bytes")).toMatchObject({ base64: "AAEC/w==" });
  const { envelope, attachments } = await ws.reply("request", { url: `${server.origin}/pixel` });
  expect(envelope.data).toMatchObject({ status: 200, note: "the picture is attached" });
  expect(attachments).toEqual([{ kind: "image", mime: "image/png", bytes: PIXEL }]);
});

test("any status is a result", async () => {
  expect(await get("/missing")).toMatchObject({ status: 404, text: "no such page" });
});

test("the requested form wins over the content type", async () => {
  expect((await get("/json", { as: "text" })).text).toMatch(/^{"items"/);
  expect((await get("/text", { as: "base64" })).base64).toBe("aGVsbG8=");
  expect(await get("/page", { as: "markdown" })).toMatchObject({
    title: "T",
    text: `menu\n\n# Head\n\nText [link](${server.origin}/x)\n`,
  });
  expect((await get("/text", { as: "markdown" })).text).toBe("hello");
});

test("text is decoded by header, byte order mark or page declaration", async () => {
  expect((await get("/latin")).text).toBe("grüße");
  expect((await get("/meta", { as: "markdown" })).text).toBe("€\n");
});

test("select narrows JSON, and says when nothing matches", async () => {
  expect((await get("/json", { select: "items[*].id" })).json).toEqual([1, 2]);
  expect((await get("/json", { select: '$.items[0]["a b"]' })).json).toBe("x");
  expect(await fail("/json", { select: "items[9]" })).toMatchObject({ code: "NOT_FOUND" });
  expect(await fail("/json", { select: "constructor" })).toMatchObject({ code: "NOT_FOUND" });
  expect(await fail("/json", { select: "items[" })).toMatchObject({ code: "INVALID_ARGUMENT" });
});

test("a body that is not JSON, or too deep, is returned as text with a note", async () => {
  expect(await get("/broken-json")).toMatchObject({
    text: "<html>",
    note: expect.stringContaining("not JSON"),
  });
  expect(await get("/deep", { max_bytes: 1_000_000 })).toMatchObject({
    note: expect.stringContaining("deeply"),
  });
});

test("long content comes as head and tail with a ref to the whole", async () => {
  const body = "0123456789\n".repeat(10_000);
  const { text, tail, truncated, ref, omitted, size } = await get("/big", { max_bytes: 1_000 });
  expect({ truncated, size }).toEqual({ truncated: true, size: body.length });
  expect(text.length + tail.length + omitted.bytes).toBe(body.length);
  expect(ref).toBe(`blob:sha256:${createHash("sha256").update(body).digest("hex")}`);
  expect(ws.workspace.blobs.get(ref.slice("blob:".length)).toString()).toBe(body);
  const bytes = await get("/big-bytes", { max_bytes: 1_000 });
  expect(bytes).toMatchObject({ truncated: true, size: 100_000, ref: expect.stringMatching(/^blob:/) });
});

test("bodies are sent as text, JSON, form or from a file", async () => {
  const echo = async (body: unknown) => (await get("/echo", { body })).json;
  expect(await echo("plain")).toMatchObject({ method: "POST", body: "plain" });
  expect(await echo({ json: { a: [1] } })).toMatchObject({
    body: '{"a":[1]}',
    headers: { "content-type": "application/json", "content-length": "9" },
  });
  expect((await echo({ form: { a: "1 &", b: ["x", "y"] } })).body).toBe("a=1+%26&b=x&b=y");
  writeFileSync(join(ws.root, "body.bin"), "from a file");
  expect((await echo({ ref: "body.bin" })).body).toBe("from a file");
  expect(await fail("/echo", { body: { ref: "/etc/passwd" } })).toMatchObject({ code: "OUTSIDE_WORKSPACE" });
});

test("headers are sent, framing headers are refused, and nothing can be smuggled in", async () => {
  const { json } = await get("/echo", { headers: { "X-Mine": "1", "User-Agent": "me" } });
  expect(json.headers).toMatchObject({ "x-mine": "1", "user-agent": "me", host: `127.0.0.1:${server.port}` });
  for (const headers of [
    { Host: "a" },
    { "Content-Length": "1" },
    { "Transfer-Encoding": "chunked" },
    { "a b": "x" },
  ])
    expect((await fail("/echo", { headers })).code).toBe("INVALID_ARGUMENT");
  const smuggled = await fail("/echo", { headers: { x: "1\r\nAuthorization: CANARY-2" } });
  expect(smuggled.code).toBe("INVALID_ARGUMENT");
  expect(JSON.stringify(smuggled)).not.toContain("CANARY");
});

test("credentials in the URL become a header and are not shown again", async () => {
  const url = `http://user:CANARY-3@127.0.0.1:${server.port}/echo?q=1#part`;
  const answered = await ws.ok("request", { url });
  expect(answered.json.headers.authorization).toBe(
    `Basic ${Buffer.from("user:CANARY-3").toString("base64")}`,
  );
  expect(answered.url).toBe(`${server.origin}/echo?q=1`);
  const twice = await ws.fail("request", { url, headers: { Authorization: "Bearer CANARY-4" } });
  expect(twice.code).toBe("INVALID_ARGUMENT");
  expect(JSON.stringify(twice)).not.toContain("CANARY");
});

test("cookie values are hidden unless requested", async () => {
  expect((await get("/cookie")).headers["set-cookie"]).toEqual([
    "session=[hidden]; HttpOnly; Path=/",
    "plain",
  ]);
  expect((await get("/cookie", { cookies: true })).headers["set-cookie"][0]).toMatch(/CANARY-1/);
});

test("response headers are bounded", async () => {
  expect(Object.keys((await get("/many-headers")).headers).length).toBeLessThanOrEqual(60);
  expect(await fail("/huge-headers")).toMatchObject({ code: "LIMIT_EXCEEDED" });
});

test("the deadline covers everything: a silent server, one that drips, one that never resolves", async () => {
  for (const path of ["/silent", "/drip"])
    expect(await fail(path, { timeout: 60 })).toMatchObject({ code: "TIMEOUT", details: { after_ms: 60 } });
  const stuck = createNetWorkspace({ resolve: () => new Promise(() => {}) });
  expect(await stuck.fail("request", { url: "http://slow.test/", timeout: 30 })).toMatchObject({
    code: "TIMEOUT",
  });
  await stuck.close();
});

test("cancelling ends the call and closes the connection", async () => {
  const closed = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  ROUTES["/wait"] = (request) => {
    request.socket.on("close", () => closed.resolve());
    started.resolve();
  };
  const stop = new AbortController();
  const call = ws.fail("request", { url: `${server.origin}/wait` }, { signal: stop.signal });
  await started.promise;
  stop.abort();
  expect(await call).toMatchObject({ code: "CANCELLED" });
  await closed.promise;
});

test("network failures name the host and nothing else of the URL", async () => {
  const secret = "?token=CANARY-5";
  expect(await fail(`/cut${secret}`)).toMatchObject({ code: "UPSTREAM_ERROR" });
  const tcp = createTcpServer((socket) => socket.resume().end("not http at all\r\n\r\n"));
  const odd = await listen(
    tcp,
    "127.0.0.1",
    0,
    (port) => `http://127.0.0.1:${port}`,
    () => {},
  );
  const failures = [
    await fail(`/cut${secret}`),
    await ws.fail("request", {
      url: `${odd.origin}/${secret}`,
      headers: { authorization: "Bearer CANARY-6" },
    }),
    await ws.fail("request", { url: `https://user:CANARY-7@127.0.0.1:${server.port}/${secret}` }),
    await ws.fail("request", { url: `http://no-such-name.invalid/${secret}`, body: "CANARY-8" }),
    await fail(`/silent${secret}`, { timeout: 20 }),
    await ws.fail("request", { url: `http://10.0.0.1/${secret}` }),
    await ws.fail("request", { url: `ftp://user:CANARY-9@host/${secret}` }),
    await ws.fail("request", { url: `http://[${secret}` }),
  ];
  await odd.close();
  expect(failures.map(({ code }) => code)).toEqual([
    ...["UPSTREAM_ERROR", "UPSTREAM_ERROR", "UPSTREAM_ERROR", "UPSTREAM_ERROR"],
    ...["TIMEOUT", "NET_BLOCKED", "INVALID_ARGUMENT", "INVALID_ARGUMENT"],
  ]);
  expect(JSON.stringify(failures)).not.toContain("CANARY");
});

test("connections are reused, and a hundred concurrent requests all get their own answer", async () => {
  const fresh = createNetWorkspace();
  const before = server.connections.made;
  for (let n = 0; n < 20; n++) await fresh.ok("request", { url: `${server.origin}/text` });
  // A busy machine may let one become idle for too long.
  expect(server.connections.made - before).toBeLessThan(20);
  const bodies = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      fresh.ok("request", { url: `${server.origin}/echo`, body: `${n}` }),
    ),
  );
  expect(bodies.map(({ json }) => json.body)).toEqual(Array.from({ length: 100 }, (_, n) => `${n}`));
  await fresh.close();
});

test("a connection closed by the server meanwhile is not a failure", async () => {
  let count = 0;
  const impatient = await startTestServer((request, response) => {
    response.end(`${++count}`, () => request.socket.destroy());
  });
  for (let n = 1; n <= 5; n++) expect((await ws.ok("request", { url: impatient.origin })).text).toBe(`${n}`);
  await impatient.close();
});
