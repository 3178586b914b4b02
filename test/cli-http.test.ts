import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { runOctant, startOctant } from "./octant-process.ts";

let project: FixtureProject;
beforeEach(() => {
  const made = createFixtureProject();
  project = made;
  onTestFinished(() => made[Symbol.dispose]());
});

/** `octant serve --http` and its output for a person. */
async function serve(...flags: string[]) {
  const child = startOctant(["serve", "--http", ...flags], { cwd: project.root, env: project.env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  for await (const line of createInterface(child.stdout)) {
    printed += `${line}\n`;
    if (line.startsWith("Ctrl-C")) break;
  }
  const url = /http:\/\/\S+\/mcp/.exec(printed)?.[0] ?? "";
  const token = /oct_\S+/.exec(printed)?.[0] ?? "";
  return { child, printed, url, token };
}

async function connect(url: string, token: string) {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

const read = { name: "fs", arguments: { action: "read", uri: "README.md" } };
const write = { name: "fs", arguments: { action: "write", uri: "new.txt", content: "x" } };

test("octant serve --http prints a URL and a token that work with a client, and lines to paste", async () => {
  const { child, printed, url, token } = await serve();
  expect(new URL(url).hostname).toBe("127.0.0.1");
  const client = await connect(url, token);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("fs");
  expect((await client.callTool(read)).structuredContent).toMatchObject({ ok: true });
  expect(printed).toContain(`claude mcp add --transport http octant ${url}`);
  expect(printed).toContain("[mcp_servers.octant]");
  expect(printed).not.toContain("/approvals");
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("a pasted configuration works after a restart: the address and the token stay the same", async () => {
  const first = await serve();
  first.child.kill("SIGTERM");
  await once(first.child, "exit");
  const second = await serve();
  expect({ url: second.url, token: second.token }).toEqual({ url: first.url, token: first.token });
  const client = await connect(first.url, first.token);
  expect((await client.callTool(read)).structuredContent).toMatchObject({ ok: true });
  // A second server of the same folder gets another port, and says so.
  const beside = await serve();
  expect(new URL(beside.url).port).not.toBe(new URL(first.url).port);
  const stored = await callOctant(["token", "list"], { cwd: project.root, env: project.env });
  expect(stored.stdout.match(/printed by octant serve/g)).toHaveLength(1);
});

test("octant serve --http --json prints one line for scripts; a read-only token cannot write, a revoked one is rejected", async () => {
  const child = startOctant(["serve", "--http", "--json"], { cwd: project.root, env: project.env });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(createInterface(child.stdout), "line");
  const { url, token: printed } = JSON.parse(line);
  const person = await connect(url, printed);
  expect((await person.callTool(read)).structuredContent).toMatchObject({ ok: true });
  const place = { cwd: project.root, env: project.env };
  const run = (...args: string[]) => callOctant(["token", ...args], place);
  const make = ["token", "create", "--scope", "admin:ro", "--name", "a reader"];
  const token = (await runOctant(make, place)).stdout.trim();
  const client = await connect(url, token);
  expect((await client.callTool(read)).structuredContent).toMatchObject({ ok: true });
  expect((await client.callTool(write)).structuredContent).toMatchObject({
    error: { code: "PERMISSION_DENIED", details: { by: "access" } },
  });
  const [row] = (await run("list")).stdout.split("\n").filter((line) => line.includes("a reader"));
  expect(row).not.toContain(token);
  expect((await run("revoke", row?.split(" ")[0] ?? "")).code).toBe(0);
  await expect
    .poll(() =>
      fetch(url, { method: "POST", headers: { authorization: `Bearer ${token}` } }).then((r) => r.status),
    )
    .toBe(401);
});

test("a server that asks prints where to answer, and questions appear there", async () => {
  const { printed } = await serve("--permissions", "enforce");
  const [, header = "", value = "", url = ""] = /curl -H "(\w+): (.*)" (\S+\/approvals)/.exec(printed) ?? [];
  const response = await fetch(url, { headers: { [header]: value } });
  expect([response.status, await response.json()]).toEqual([200, { approvals: [] }]);
});

test("behind a proxy, clients get the public address", async () => {
  const publicUrl = "https://octant.example/mcp";
  const flags = ["--json", "--public-url", publicUrl, "--oauth-issuer", "https://issuer.example"];
  const port = await freePort();
  const child = startOctant(["serve", "--http", "--port", `${port}`, ...flags], {
    cwd: project.root,
    env: project.env,
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(createInterface(child.stdout), "line");
  expect(JSON.parse(line).url).toBe(publicUrl);
  const ask = (path: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: "127.0.0.1", port, path, headers: { host: "octant.example" } }, resolve).on(
        "error",
        reject,
      );
    });
  const { statusCode, headers } = await ask("/mcp");
  expect(statusCode).toBe(401);
  const metadata = "/.well-known/oauth-protected-resource/mcp";
  expect(headers["www-authenticate"]).toContain(`resource_metadata="https://octant.example${metadata}"`);
  expect(JSON.parse(await text(await ask(metadata)))).toMatchObject({ resource: publicUrl });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  // It listens on a port, not on a pipe.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test.each([
  [["--port", "x"], "--port takes a whole number from 0 to 65535, not 'x'"],
  [["--public-url", "octant.example"], "invalid --public-url 'octant.example'"],
  [["--tls-cert", "a.pem"], "TLS needs both"],
  [["--tls-cert", "a.pem", "--tls-key", "a.pem"], "name PEM files"],
  [["--host", "203.0.113.1"], "--host is an address of this machine"],
])("octant serve --http %j is wrong usage", async (flags, message) => {
  const { code, stderr } = await callOctant(["serve", "--http", ...flags], {
    cwd: project.root,
    env: project.env,
  });
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
