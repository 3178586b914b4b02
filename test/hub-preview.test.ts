import { once } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { Caller } from "@octant/core";
import { toInstall } from "@octant/hub";
import { afterAll, describe, expect, test } from "vitest";
import { ENGINE_NAMES, openEngine, type TestEngine } from "../packages/hub/testing/engines.ts";
import { openHub } from "../packages/hub/testing/open-hub.ts";
import { CONTAINED_LAUNCHER } from "./published-command.ts";

const { node } = toInstall(CONTAINED_LAUNCHER);
const PORT = 8080;
/** Answers with what it received, and echoes what an upgraded connection sends. */
const SERVER = `
const server = require("node:http").createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk)).on("end", () => {
    const { method, url, headers } = request;
    response.setHeader("set-cookie", ["seen=1; Domain=localhost; Path=/", "octant_preview=stolen"]);
    response.setHeader("strict-transport-security", "max-age=1000");
    if (url === "/away") response.setHeader("location", "http://localhost:${PORT}/here?x=1");
    response.statusCode = url === "/away" ? 302 : 200;
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
  });
});
server.on("upgrade", (request, socket) => {
  socket.write("HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\nhello ");
  socket.pipe(socket);
});
server.listen(${PORT}, "127.0.0.1");
`;

for (const name of ENGINE_NAMES) {
  const opened = await openEngine(name);
  if (typeof opened === "string") test.skip(`previews with ${name} (not here: ${opened})`);
  else describe(`a preview with ${name}`, () => describePreview(opened));
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function describePreview(opened: TestEngine): void {
  afterAll(() => opened[Symbol.asyncDispose]());

  test("serves a port of a container without a network, and its page has no way to the hub", async () => {
    const { hub, get, call } = await openHub({ engine: opened.engine });
    const server = await hub.serve();
    const create = async (name: string) =>
      (await get<{ project_id: string }>("project.create", { name })).project_id;
    const project_id = await create("demo");
    const other_id = await create("other");
    const tokenFor = async (scope: string) =>
      (await get<{ token: string }>("token.create", { name: scope.slice(0, 60), scope })).token;
    const callerOf = (text: string): Caller => ({
      ...{ id: text.split("_")[1] ?? "", access: "write", project: project_id, remote: true },
    });
    const token = await tokenFor(`project:${project_id}`);
    const fetchFrom = async (
      host: string,
      path: string,
      { method = "GET", headers = {}, body = "" } = {},
    ): Promise<Answer> => {
      const sent = request({
        ...{ host: "127.0.0.1", port: server.port, method, path, agent: false },
        headers: { host, ...headers },
      });
      sent.end(body);
      const [answer] = await once(sent, "response");
      return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
    };
    const linkFor = (text: string, port = PORT) =>
      get<{ url: string; origin: string }>("container.preview", { project_id, port }, callerOf(text));
    const { url, origin } = await linkFor(token);
    const { host, search } = new URL(url);
    const bearer = { authorization: `Bearer ${token}` };
    const withToken = (path: string, more: object = {}) =>
      fetchFrom(host, path, { headers: bearer, ...more });

    // Nothing runs yet: a preview starts no container.
    expect(await withToken("/")).toMatchObject({
      status: 502,
      body: expect.stringContaining("does not run"),
    });
    await get("container.start", { project_id });
    expect(await withToken("/")).toMatchObject({
      status: 502,
      body: expect.stringContaining(`nothing listens on port ${PORT}`),
    });
    const serving = call("container.exec", { project_id, command: [node, "-e", SERVER] });
    await expect.poll(async () => (await withToken("/")).status, { timeout: 20_000 }).toBe(200);

    // A program with a token.
    const { body } = await withToken("/a?b=c", { method: "POST", body: "given" });
    expect(JSON.parse(body)).toMatchObject({ method: "POST", url: "/a?b=c", body: "given" });
    expect(JSON.parse(body).headers).toMatchObject({ host: `localhost:${PORT}`, "x-forwarded-host": host });
    expect(body).not.toContain(token);

    // Who may not.
    expect((await fetchFrom(host, "/")).status).toBe(401);
    expect((await fetchFrom(host, "/", { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
    for (const [scope, status] of [
      [`project:${other_id}`, 404],
      [`project:${project_id}:ro`, 403],
      ["admin:ro", 403],
    ] as const)
      expect(
        await fetchFrom(host, "/", { headers: { authorization: `Bearer ${await tokenFor(scope)}` } }),
      ).toMatchObject({ status });
    expect((await fetchFrom(`nothing.localhost:${server.port}`, "/", { headers: bearer })).status).toBe(404);

    // No request stops the hub, not even one without a token.
    for (const path of ["//", "//:0", "http://[", "*", "/%"])
      expect((await fetchFrom(host, path)).status, path).toBe(401);

    // A browser with a one-time link.
    expect((await fetchFrom(host, `/${search}`, { method: "HEAD" })).status).toBe(401);
    const entered = await fetchFrom(host, `/deep/page${search}&x=1`);
    expect(entered).toMatchObject({ status: 303, headers: { location: "/deep/page?x=1" } });
    const [set = ""] = entered.headers["set-cookie"] ?? [];
    expect(set).toMatch(/^octant_preview=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/);
    expect((await fetchFrom(host, `/${search}`)).status).toBe(403);
    const cookie = set.split(";")[0] ?? "";
    const page = await fetchFrom(host, "/", {
      headers: { cookie: `mine=1; ${cookie}`, authorization: "Basic own", origin },
    });
    const { headers } = JSON.parse(page.body);
    expect(headers).toMatchObject({
      cookie: "mine=1",
      authorization: "Basic own",
      origin: `http://localhost:${PORT}`,
    });
    expect(page.headers["set-cookie"]).toEqual(["seen=1; Path=/"]);
    expect(page.headers["strict-transport-security"]).toBeUndefined();
    const away = await fetchFrom(host, "/away", { headers: { cookie } });
    expect(away).toMatchObject({ status: 302, headers: { location: "/here?x=1" } });
    // The cookie is for this port of this project only.
    const { origin: elsewhere } = await linkFor(token, 81);
    expect((await fetchFrom(new URL(elsewhere).host, "/", { headers: { cookie } })).status).toBe(401);

    // Pages: of the preview to the hub, and of others to the preview.
    const hubHost = `127.0.0.1:${server.port}`;
    for (const path of ["/mcp", "/metrics", "/sessions/x"])
      expect((await fetchFrom(hubHost, path, { headers: { origin, cookie } })).status).toBe(403);
    expect((await fetchFrom(hubHost, "/metrics", { headers: { cookie } })).status).toBe(401);
    expect((await fetchFrom(host, "/mcp", { headers: bearer, method: "POST" })).body).toContain(
      '"url":"/mcp"',
    );
    for (const foreign of [elsewhere, "http://evil.example", "null", `http://${hubHost}`])
      expect((await fetchFrom(host, "/", { headers: { cookie, origin: foreign } })).status).toBe(403);
    const fromSite = { cookie, "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" };
    expect((await fetchFrom(host, "/", { headers: fromSite })).status).toBe(403);

    // WebSockets, by cookie or token.
    const upgrade = async (given: object) => {
      const socket = connect(server.port, "127.0.0.1");
      const fields = { host, connection: "Upgrade", upgrade: "websocket", ...given };
      const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`GET /socket HTTP/1.1\r\n${lines.join("")}\r\n`);
      let seen = "";
      socket.setEncoding("utf8").on("data", (data) => {
        seen += data;
      });
      return { socket, seen: () => seen };
    };
    for (const given of [{ cookie, origin }, bearer]) {
      const { socket, seen } = await upgrade(given);
      await expect.poll(seen).toContain("hello ");
      socket.write("echo");
      await expect.poll(seen).toMatch(/^HTTP\/1.1 101 .*hello echo$/s);
      socket.destroy();
    }
    for (const given of [{}, { cookie, origin: "http://evil.example" }]) {
      const { socket, seen } = await upgrade(given);
      await once(socket, "close");
      expect(seen()).toMatch(/^HTTP\/1.1 40[13] /);
    }

    // A revoked token takes its previews along.
    expect((await fetchFrom(host, "/", { headers: { cookie } })).status).toBe(200);
    await get("token.revoke", { token_id: callerOf(token).id });
    expect((await fetchFrom(host, "/", { headers: { cookie } })).status).toBe(401);

    await get("container.stop", { project_id, force: true });
    await serving;
    await server.close();
  });
}
