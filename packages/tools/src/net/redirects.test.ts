import { createServer, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CERTIFICATE } from "../../testing/net/certificate.ts";
import { listen, startTestServer, type TestServer } from "../../testing/net/http-server.ts";
import { createNetWorkspace, type NetWorkspace } from "../../testing/net/net-workspace.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Redirects by `/status/location`, percent-encoded, and echoes everything else. */
const startEcho = (tls?: typeof CERTIFICATE): Promise<TestServer> =>
  startTestServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const [, status, location] = /^\/(30\d)\/(.*)$/.exec(url) ?? [];
    const body = await text(request);
    if (status !== undefined && location !== undefined)
      return response.writeHead(Number(status), { location: decodeURIComponent(location) }).end();
    const seen: Seen = { method, url, headers, body };
    return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(seen));
  }, tls && { tls });

let one: TestServer;
let other: TestServer;
let secure: TestServer;
let ws: NetWorkspace;
beforeAll(async () => {
  [one, other, secure] = await Promise.all([startEcho(), startEcho(), startEcho(CERTIFICATE)]);
  ws = createNetWorkspace({ ca: [CERTIFICATE.cert], resolve: async () => ["127.0.0.1"] });
});
afterAll(async () => {
  await ws.close();
  await Promise.all([one, other, secure].map((server) => server.close()));
});

const through = (from: TestServer, status: number, to: string) =>
  `${from.origin}/${status}/${encodeURIComponent(to)}`;
const seenAfter = async (url: string, more: object = {}): Promise<Seen> =>
  (await ws.ok("request", { url, ...more })).json;

test.each([
  [301, "POST", "GET", ""],
  [302, "POST", "GET", ""],
  [303, "POST", "GET", ""],
  [303, "PUT", "GET", ""],
  [301, "PUT", "PUT", "x"],
  [307, "POST", "POST", "x"],
  [308, "PATCH", "PATCH", "x"],
])("a %d after %s is followed by %s", async (status, method, next, body) => {
  const seen = await seenAfter(through(one, status, "/end"), { method, body: "x" });
  expect(seen).toMatchObject({ method: next, body, url: "/end" });
  expect(seen.headers["content-type"] !== undefined).toBe(body !== "");
});

test("the answer has the final URL and the number of redirects, or the redirect itself", async () => {
  const url = through(one, 302, "/303/%2Fend");
  expect(await ws.ok("request", { url })).toMatchObject({
    url: `${one.origin}/end`,
    redirects: 2,
    status: 200,
  });
  const still = await ws.ok("request", { url: through(one, 302, "http://u:CANARY@x.test/"), follow: false });
  expect(still).toMatchObject({ status: 302, redirects: 0, headers: { location: "http://x.test/" } });
});

const SECRETS = {
  Authorization: "Bearer CANARY",
  Cookie: "session=CANARY",
  "X-Api-Key": "CANARY",
  "X-Anything": "CANARY",
};

test("headers stay within their origin; only harmless ones cross", async () => {
  const headers = { ...SECRETS, Accept: "text/x", "User-Agent": "me" };
  const within = await seenAfter(through(one, 302, "/end"), { headers });
  expect(within.headers).toMatchObject({ authorization: "Bearer CANARY", "x-api-key": "CANARY" });
  const across = await seenAfter(through(one, 302, `${other.origin}/end`), { headers });
  expect(JSON.stringify(across)).not.toContain("CANARY");
  expect(across.headers).toMatchObject({ accept: "text/x", "user-agent": "me" });
  // A dropped header does not return with a redirect back.
  const back = through(one, 302, through(other, 302, `${one.origin}/end`));
  expect(JSON.stringify(await seenAfter(back, { headers }))).not.toContain("CANARY");
  const fromUrl = through(one, 302, `${other.origin}/end`).replace("//", "//user:CANARY@");
  expect((await seenAfter(fromUrl)).headers.authorization).toBeUndefined();
});

test("a body does not cross origins", async () => {
  const url = through(one, 307, `${other.origin}/end`);
  expect(await ws.fail("request", { url, body: "CANARY" })).toMatchObject({
    code: "NET_BLOCKED",
    details: { host: `127.0.0.1:${other.port}` },
  });
});

test("https works by name, and the certificate is checked against the name", async () => {
  const seen = await seenAfter(`https://one.test:${secure.port}/`);
  expect(seen.headers.host).toBe(`one.test:${secure.port}`);
  for (const url of [`https://two.test:${secure.port}/`]) {
    const error = await ws.fail("request", { url });
    expect(error).toMatchObject({ code: "UPSTREAM_ERROR" });
    expect(error.message).toContain("TLS");
  }
  const strict = createNetWorkspace();
  expect(await strict.fail("request", { url: `${secure.origin}/` })).toMatchObject({
    code: "UPSTREAM_ERROR",
  });
  await strict.close();
});

test("a redirect from https to http carries no credentials", async () => {
  const url = through(secure, 302, `${one.origin}/end`);
  expect((await seenAfter(url)).url).toBe("/end");
  const error = await ws.fail("request", { url, headers: SECRETS });
  expect(error.code).toBe("NET_BLOCKED");
  expect(JSON.stringify(error)).not.toContain("CANARY");
});

test("a proxy from the environment is used for names, not for this machine, and cannot bypass the lists", async () => {
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end("by proxy");
  });
  proxy.on("connect", (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    const upstream = connect(secure.port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
  });
  const at = await listen(
    proxy,
    "127.0.0.1",
    0,
    (port) => `http://127.0.0.1:${port}`,
    () => proxy.closeAllConnections(),
  );
  const behind = createNetWorkspace({
    env: { http_proxy: at.origin, HTTPS_PROXY: at.origin, no_proxy: "direct.test,10.0.0.0/8" },
    ca: [CERTIFICATE.cert],
    resolve: async () => ["127.0.0.1"],
    policy: { deny: ["denied.test"] },
  });
  expect((await behind.ok("request", { url: "http://far.test/a?b" })).text).toBe("by proxy");
  expect((await behind.ok("request", { url: "https://one.test/c" })).json.url).toBe("/c");
  expect(asked).toEqual(["http://far.test/a?b", "CONNECT one.test:443"]);
  expect((await behind.ok("request", { url: `${one.origin}/own` })).json.url).toBe("/own");
  expect((await behind.ok("request", { url: `http://sub.direct.test:${one.port}/own` })).json.url).toBe(
    "/own",
  );
  for (const url of [
    "http://denied.test/",
    "http://169.254.169.254/",
    "http://metadata.google.internal/",
    "http://10.0.0.1/",
  ])
    expect((await behind.fail("request", { url })).code, url).toBe("NET_BLOCKED");
  expect(asked).toHaveLength(2);
  await behind.close();
  await at.close();
});

test("a server elsewhere cannot redirect to this machine, unless the person has opened that address", async () => {
  // A proxy, because no public address leads to a server of a test.
  const proxy = await startTestServer(async (_request, response) =>
    response.writeHead(302, { location: `${one.origin}/own` }).end(),
  );
  const env = { http_proxy: proxy.origin, no_proxy: "" };
  const closed = createNetWorkspace({ env });
  expect(await closed.fail("request", { url: "http://far.test/" })).toMatchObject({
    code: "NET_BLOCKED",
    message: expect.stringContaining("redirects from elsewhere"),
  });
  expect((await closed.ok("request", { url: through(other, 302, `${one.origin}/own`) })).json.url).toBe(
    "/own",
  );
  const open = createNetWorkspace({ env, policy: { allow: [`127.0.0.1:${one.port}`] } });
  expect((await open.ok("request", { url: "http://far.test/" })).json.url).toBe("/own");
  await Promise.all([closed.close(), open.close(), proxy.close()]);
});
