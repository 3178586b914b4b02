import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SignJWT } from "jose";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import { modernRequest, serveDemo } from "../../testing/http.ts";

const SCOPES = "admin admin:ro project:mine project:mine:ro";
const CLIENT = { client_id: "agent", client_secret: "a secret for the test" };

/** A real authorisation server that issues tokens for any resource. */
async function startAuthorisationServer() {
  // It has no types.
  const { default: Provider } = (await import("oidc-provider" as string)) as {
    default: new (...args: unknown[]) => { callback(): () => void };
  };
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, grant_types: ["client_credentials"], redirect_uris: [], response_types: [] }],
    scopes: SCOPES.split(" "),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx: unknown, audience: string) => ({
          scope: SCOPES,
          audience,
          accessTokenFormat: "jwt",
          accessTokenTTL: 60,
        }),
      },
    },
  });
  server.on("request", provider.callback());
  const getToken = async (resource: string, scope: string) => {
    const { client_id, client_secret } = CLIENT;
    const response = await fetch(`${issuer}/token`, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(`${client_id}:${encodeURIComponent(client_secret)}`).toString("base64")}`,
      },
      body: new URLSearchParams({ grant_type: "client_credentials", resource, scope }),
    });
    const { access_token } = (await response.json()) as { access_token: string };
    return access_token;
  };
  return { issuer, getToken };
}

async function setUp() {
  const authority = await startAuthorisationServer();
  const demo = await serveDemo({ oauth: { issuer: authority.issuer }, project: "mine" });
  const { body, headers } = modernRequest(1, "tools/call", {
    name: "demo",
    arguments: { action: "echo", text: "x" },
  });
  const call = (token: string) => demo.post(body, { ...headers, authorization: `Bearer ${token}` });
  return { ...authority, ...demo, call };
}

test("a token of the authorisation server for us is accepted, and calls as its subject", async () => {
  const { server, getToken, call, issuer } = await setUp();
  const token = await getToken(server.url, "admin");
  expect((await call(token)).status).toBe(200);
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  expect((await client.listTools()).tools).toHaveLength(1);
  await client.close();
  expect(issuer).toMatch(/^http:/);
});

test("the metadata of the resource names the authorisation server, and 401 names the metadata", async () => {
  const { server, issuer } = await setUp();
  const refused = await fetch(server.url, { method: "POST" });
  expect(refused.status).toBe(401);
  const [, metadataUrl = ""] =
    /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "") ?? [];
  expect(new URL(metadataUrl).pathname).toBe("/.well-known/oauth-protected-resource/mcp");
  const metadata = await (await fetch(metadataUrl)).json();
  expect(metadata).toEqual({
    resource: server.url,
    authorization_servers: [issuer],
    scopes_supported: ["admin", "admin:ro", "project:mine", "project:mine:ro"],
    bearer_methods_supported: ["header"],
  });
});

test("a token without our scope is 403 and lists the valid scopes", async () => {
  const { server, getToken, call } = await setUp();
  const refused = await call(await getToken(server.url, ""));
  expect(refused.status).toBe(403);
  expect(refused.headers.get("www-authenticate")).toMatch(
    /error="insufficient_scope".*scope="admin admin:ro/,
  );
});

test("a token with a narrower scope allows only what that covers", async () => {
  const { server, getToken, post } = await setUp();
  const token = await getToken(server.url, "project:mine:ro");
  const list = modernRequest(1, "tools/list");
  expect((await post(list.body, { ...list.headers, authorization: `Bearer ${token}` })).status).toBe(200);
});

test("a token for another audience, with other keys, unsigned, or altered is 401", async () => {
  const { server, getToken, call, issuer } = await setUp();
  const good = await getToken(server.url, "admin");
  const [head = "", payload = "", signature = ""] = good.split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const own = new SignJWT(claims).setProtectedHeader({ alg: "HS256" });
  const tokens = [
    await getToken("https://other.example/mcp", "admin"),
    await own.sign(new TextEncoder().encode("x".repeat(32))),
    `${encode({ alg: "none" })}.${payload}.`,
    `${encode({ alg: "none" })}.${payload}.${signature}`,
    `${head}.${encode({ ...claims, sub: "root" })}.${signature}`,
    `${head}.${encode({ ...claims, iss: `${issuer}/other` })}.${signature}`,
    `${head}.${encode({ ...claims, exp: claims.exp + 1_000 })}.${signature}`,
  ];
  for (const token of tokens) {
    const refused = await call(token);
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toContain('error="invalid_token"');
  }
  expect((await call(good)).status).toBe(200);
});

test("a socket ends with its token, unless there is a newer one", async () => {
  const { server, getToken, call, headers } = await setUp();
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const pass = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1_000);
  const authorization = `Bearer ${await getToken(server.url, "admin")}`;
  const url = server.url.replace("http", "ws").replace("/mcp", "/ws");
  const socket = new WebSocket(url, "mcp", { headers: { ...headers, authorization } });
  const closed = once(socket, "close");
  await once(socket, "open");
  pass(40);
  expect((await call(await getToken(server.url, "admin"))).status).toBe(200);
  pass(30);
  const answer = Promise.race([once(socket, "message"), closed]);
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }));
  expect(String((await answer)[0])).toContain('"id":1');
  pass(40);
  expect((await closed)[0]).toBe(1008);
});

test("while the authorisation server is unreachable, its tokens are 503 and ours still work", async () => {
  const demo = await serveDemo({ oauth: { issuer: "http://127.0.0.1:1" } });
  const { body, headers } = modernRequest(1, "tools/list");
  const unknown = await demo.post(body, { ...headers, authorization: "Bearer e30.e30.e30" });
  expect(unknown.status).toBe(503);
  expect((await demo.post(body, headers)).status).toBe(200);
});
