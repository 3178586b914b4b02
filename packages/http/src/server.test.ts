import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createTokenStore } from "./access/tokens.ts";
import { createHttpServer, type HttpServerOptions } from "./index.ts";

async function serve(more: Partial<HttpServerOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "octant-http-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const tokens = createTokenStore({ folder });
  const { token, id } = tokens.create({ scopes: ["project:mine"] });
  const server = await createHttpServer({
    tokens,
    project: "mine",
    resourcePath: "/api",
    log: () => {},
    ...more,
  });
  await server.listen();
  onTestFinished(() => server.close());
  const headers = { authorization: `Bearer ${token}` };
  const get = (path: string, more: RequestInit = { headers }) => fetch(new URL(path, server.url), more);
  return { server, get, headers, id };
}

test("a mount serves its path and those below it for callers with a token; the longest path wins", async () => {
  const { server, get, id } = await serve();
  server.mount("/api", (_request, response, caller) => response.end(JSON.stringify(caller)));
  server.mount("/api/jobs", (request, response) => response.end(`jobs ${request.url}`));
  expect(await (await get("/api")).json()).toEqual({ id, access: "write", project: "mine", remote: true });
  expect(await (await get("/api/jobs/7?x=1")).text()).toBe("jobs /api/jobs/7?x=1");
  expect((await get("/apis")).status).toBe(404);
  expect((await get("/api", {})).status).toBe(401);
  expect(() => server.mount("/api", () => {})).toThrow("already mounted");
});

test("a mount that throws answers 500 or cuts its answer off, and the server goes on", async () => {
  const logged: string[] = [];
  const { server, get } = await serve({ log: (line) => logged.push(line) });
  server.mount("/api", (_request, response) => {
    if (logged.length > 0) response.write("half");
    throw new Error("a bug");
  });
  expect((await get("/api")).status).toBe(500);
  await expect(get("/api").then((response) => response.text())).rejects.toThrow();
  expect((await get("/elsewhere")).status).toBe(404);
  expect(logged).toEqual([expect.stringContaining("a bug"), expect.stringContaining("a bug")]);
  const fail = (): never => {
    throw new Error("later");
  };
  server.mount("/later", { handle: async () => fail() });
  server.mount("/public", { handlePublic: fail });
  for (const path of ["/later", "/public"]) expect((await get(path)).status).toBe(500);
  expect(logged.filter((line) => line.includes("later"))).toHaveLength(2);
});

test("the URL of a server on all interfaces has a name that it accepts", async () => {
  const { server, get } = await serve({ host: "0.0.0.0" });
  server.mount("/", { handlePublic: (_request, response) => Boolean(response.end("page")) });
  expect((await get("/")).status).toBe(200);
  const named = await serve({ host: "::", allowedHosts: ["hub.example.com"] });
  expect(new URL(named.server.url).hostname).toBe("hub.example.com");
});

test("a public mount needs no token, but Host and Origin are still checked", async () => {
  const { server, get } = await serve();
  server.mount("/", {
    handlePublic: ({ method }, response) => method === "GET" && Boolean(response.end("page")),
  });
  expect(await (await get("/index.html", {})).text()).toBe("page");
  expect((await get("/", { method: "POST" })).status, "declined, so a token is needed").toBe(401);
  expect((await get("/", { headers: { origin: "https://evil.example" } })).status).toBe(403);
});

test("an upgrade goes to the mount of its path, and is refused elsewhere", async () => {
  const { server, headers } = await serve();
  server.mount("/ws", {
    upgrade: (_request, socket, _head, { access }) => void socket.end(`HTTP/1.1 101 OK\r\n\r\n${access}`),
  });
  const ask = async (path: string) => {
    const socket = connect(server.port, "127.0.0.1");
    const lines = [`GET ${path} HTTP/1.1`, `host: 127.0.0.1:${server.port}`, "connection: upgrade"];
    socket.write(
      `${lines.join("\r\n")}\r\nupgrade: websocket\r\nauthorization: ${headers.authorization}\r\n\r\n`,
    );
    return text(socket);
  };
  expect(await ask("/ws")).toContain("write");
  expect(await ask("/other")).toMatch(/^HTTP\/1.1 404 [\s\S]*this server serves \/ws$/);
});

test("closing drains every mount, then closes it, and refuses new requests", async () => {
  const { server } = await serve();
  const steps: string[] = [];
  for (const name of ["/a", "/b"])
    server.mount(name, {
      async drain(drainMs) {
        steps.push(`drain ${name} ${drainMs}`);
      },
      close: () => void steps.push(`close ${name}`),
    });
  await server.close();
  expect(steps).toEqual(["drain /a 5000", "drain /b 5000", "close /a", "close /b"]);
});
