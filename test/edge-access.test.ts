import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { action, createCursors, createDispatcher, createRegistry, defineTool } from "@octant/core";
import { createTokenStore, type HttpServer, type Scope, type TokenStore } from "@octant/http";
import { serveHttp } from "@octant/mcp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";

const Empty = z.strictObject({});
const base = { timing: "sync", intent: "inspect", input: Empty, output: Empty, run: () => ({}) } as const;
const declared = { ...base, summary: "Nothing.", examples: [{ title: "One", input: {} }] } as const;
const tool = defineTool({
  name: "demo",
  summary: "Actions of every kind.",
  actions: {
    look: action({ ...declared, access: "read" }),
    change: action({ ...declared, access: "write", intent: "apply" }),
    rule: action({ ...declared, access: "admin", intent: "apply" }),
    everywhere: action({ ...declared, access: "read", target: "global" }),
  },
});

let folder: string;
let tokens: TokenStore;
let server: HttpServer;
let good: string;
const bad: Record<string, string> = {};
let calls = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "octant-access-"));
  tokens = createTokenStore({ folder });
  const registry = createRegistry([tool]);
  const dispatch = createDispatcher({
    registry,
    cursors: createCursors(new Uint8Array(32)),
    onBug: () => {},
  });
  server = await serveHttp({
    registry,
    tokens,
    name: "octant",
    version: "1",
    log: () => {},
    dispatch: (call, options) => {
      calls++;
      return dispatch(call, options);
    },
    project: "mine",
    sse: true,
    allowedHosts: ["octant.example"],
    allowedOrigins: ["https://app.example"],
  });
  good = tokens.create({ scopes: ["admin"] }).token;
  bad["expired"] = tokens.create({ scopes: ["admin"], expires: new Date(Date.now() - 1) }).token;
  bad["other project"] = tokens.create({ scopes: ["project:other"] }).token;
  bad["other project, to look"] = tokens.create({ scopes: ["project:other:ro"] }).token;
  const revoked = tokens.create({ scopes: ["admin"] });
  tokens.revoke(revoked.id);
  bad["revoked"] = revoked.token;
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Told {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
}

type Headers = Record<string, string | undefined>;

/** No body is valid, so a server that parses it responds differently. */
function send(method: string, path: string, headers: Headers, upgrade: Headers = {}): Promise<Told> {
  const { promise, resolve, reject } = Promise.withResolvers<Told>();
  const given = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...upgrade,
    ...headers,
  };
  const sent = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const request = httpRequest({
    host: "127.0.0.1",
    port: server.port,
    method,
    path,
    headers: sent as Record<string, string>,
    agent: false,
  });
  request.once("response", (response) => {
    resolve({ status: response.statusCode, headers: response.headers });
    response.destroy();
  });
  request.once("upgrade", (response, socket) => {
    resolve({ status: response.statusCode, headers: response.headers });
    socket.destroy();
  });
  request.once("error", reject);
  request.end(method === "POST" ? "{ not JSON" : undefined);
  return promise;
}

const SOCKET = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-protocol": "mcp",
};

const EDGES: Readonly<Record<string, (headers: Headers) => Promise<Told>>> = {
  "POST /mcp": (headers) => send("POST", "/mcp", headers),
  "GET /mcp": (headers) => send("GET", "/mcp", headers),
  "DELETE /mcp": (headers) => send("DELETE", "/mcp", headers),
  "GET /sse": (headers) => send("GET", "/sse", headers),
  "POST /messages": (headers) => send("POST", "/messages?sessionId=x", headers),
  "WebSocket /ws": (headers) => send("GET", "/ws", headers, SOCKET),
};

const HOSTS = [
  "evil.example",
  "evil.example:80",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "octant.example.evil",
  "evil-octant.example",
  "0.0.0.0",
  "127.0.0.2",
  "[::2]",
  "localhost@evil.example",
];
const ORIGINS = [
  "null",
  "https://evil.example",
  "http://localhost",
  "http://localhost:1",
  "http://127.0.0.1:80",
  "https://app.example.evil",
  "http://app.example",
  "https://app.example:444",
  "https://sub.app.example",
  "file://",
];
const token = (name: string) => `Bearer ${bad[name]}`;
const TOKENS: readonly (readonly [name: string, header: () => string | undefined])[] = [
  ["none", () => undefined],
  ["empty", () => "Bearer "],
  ["another scheme", () => `Basic ${Buffer.from(`user:${good}`).toString("base64")}`],
  ["no scheme", () => good],
  ["unknown", () => `Bearer oct_0123456789abcdef_${"A".repeat(43)}`],
  ["right id, wrong secret", () => `Bearer ${good.slice(0, -1)}${good.endsWith("A") ? "Q" : "A"}`],
  ["with a tail", () => `Bearer ${good} x`],
  ["expired", () => token("expired")],
  ["revoked", () => token("revoked")],
  ["for another project", () => token("other project")],
];

describe.each(Object.entries(EDGES))("%s", (_name, call) => {
  const authorization = () => `Bearer ${good}`;

  test("is open to the right Host, Origin and token", async () => {
    for (const headers of [
      {},
      { host: `localhost:${server.port}` },
      { host: "octant.example" },
      { origin: `http://127.0.0.1:${server.port}` },
      { origin: "https://app.example" },
    ]) {
      const { status } = await call({ authorization: authorization(), ...headers });
      expect([401, 403]).not.toContain(status);
    }
  });

  test.each(HOSTS)("Host %s is refused, whatever else is right", async (host) => {
    expect(await call({ authorization: authorization(), host })).toMatchObject({ status: 403 });
  });

  test.each(ORIGINS)("Origin %s is refused, whatever else is right", async (origin) => {
    expect(await call({ authorization: authorization(), origin })).toMatchObject({ status: 403 });
  });

  test.each(TOKENS)(
    "a token that is %s is refused, and the answer says what is needed",
    async (name, header) => {
      const { status, headers } = await call({ authorization: header() });
      expect(status).toBe(name === "for another project" ? 403 : 401);
      expect(headers["www-authenticate"]).toMatch(/^Bearer/);
    },
  );
});

test("no refused request reached a tool", () => {
  expect(calls).toBe(0);
});

const KINDS = ["look", "change", "rule", "everywhere"];
const SCOPES: readonly (readonly [scope: Scope, allowed: readonly string[]])[] = [
  ["admin", ["look", "change", "rule", "everywhere"]],
  ["admin:ro", ["look", "everywhere"]],
  ["project:mine", ["look", "change"]],
  ["project:mine:ro", ["look"]],
];

test.each(SCOPES)("a token with scope %s may do %j and nothing else", async (scope, allowed) => {
  const { token: own } = tokens.create({ scopes: [scope] });
  const done: string[] = [];
  for (const name of KINDS) {
    const response = await fetch(server.url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${own}`,
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "demo",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "demo",
          arguments: { action: name },
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      }),
    });
    const { result } = (await response.json()) as {
      result: { structuredContent: { ok: boolean; error: unknown } };
    };
    if (result.structuredContent.ok) done.push(name);
    else expect(result.structuredContent.error).toMatchObject({ code: "PERMISSION_DENIED" });
  }
  expect(done).toEqual(allowed);
});

test("tokens are stored as hashes, in a file that only its owner can read", () => {
  const file = join(folder, "tokens.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).not.toContain(good.slice(-43));
});
