import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { createScriptedProvider, type ScriptedProvider } from "@octant/scripted-provider";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { CERTIFICATE } from "../packages/tools/testing/net/certificate.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { runOctant } from "./octant-process.ts";

const PASSED = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;

let project: FixtureProject;
let provider: ScriptedProvider;
/** The provider with TLS, under the name one.test. */
let secure: Server;
let proxy: Server;
const seen: string[] = [];
const portOf = (server: Server) => (server.address() as AddressInfo).port; // It listens on a port.
const portOfProvider = () => Number(new URL(provider.url).port);

beforeAll(async () => {
  project = createFixtureProject();
  provider = await createScriptedProvider(() => ({ parts: [{ text: "I hear you." }] }));
  secure = createTlsServer(CERTIFICATE, (socket) => {
    socket.on("error", () => {});
    socket.pipe(connect(portOfProvider(), "127.0.0.1")).pipe(socket);
  });
  proxy = createProxy();
  for (const server of [secure, proxy]) await once(server.listen(0, "127.0.0.1"), "listening");
});
afterAll(async () => {
  for (const server of [secure, proxy]) server.close();
  await provider.close();
  project[Symbol.dispose]();
});
beforeEach(() => void seen.splice(0));

/** A proxy that knows the names of the test, and wants a password. */
function createProxy(): Server {
  const isWelcome = ({ headers }: IncomingMessage) => headers["proxy-authorization"] === PASSED;
  const server = createServer((req, res) => {
    seen.push(`${req.method} ${req.url}`);
    if (!isWelcome(req)) return void res.writeHead(407).end();
    const { pathname } = new URL(req.url ?? "");
    const options = { port: portOfProvider(), method: req.method, path: pathname, headers: req.headers };
    req.pipe(
      request(options, (answer) => answer.pipe(res.writeHead(answer.statusCode ?? 500, answer.headers))),
    );
  });
  server.on("connect", (req: IncomingMessage, socket) => {
    seen.push(`CONNECT ${req.url}`);
    if (!isWelcome(req)) return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const upstream = connect(req.url === "one.test:443" ? portOf(secure) : portOfProvider(), "127.0.0.1");
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    for (const end of [socket, upstream]) end.on("error", () => {});
    upstream.pipe(socket).pipe(upstream);
  });
  return server;
}

function run(address: string, more: NodeJS.ProcessEnv, maxSeconds = 60) {
  const ca = join(project.root, "../ca.pem");
  writeFileSync(ca, CERTIFICATE.cert);
  const env = {
    ...project.env,
    NODE_EXTRA_CA_CERTS: ca,
    ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
    ANTHROPIC_BASE_URL: address,
    ...more,
  };
  const args = ["run", "hello", "--provider", "anthropic", "--model", "m", "--max-time", `${maxSeconds}`];
  return runOctant(args, { cwd: project.root, env });
}

/** Time for a first attempt. */
const FAILING_SECONDS = 3;

const proxyUrl = (password = "p%40ss") => `http://me:${password}@127.0.0.1:${portOf(proxy)}`;

test.each([
  ["https", "HTTPS_PROXY", "CONNECT one.test:443"],
  ["https", "https_proxy", "CONNECT one.test:443"],
  ["https", "ALL_PROXY", "CONNECT one.test:443"],
  ["http", "HTTP_PROXY", "POST http://one.test/v1/messages"],
])("a provider at %s is reached through the proxy of %s, with its password", async (scheme, name, line) => {
  const ran = await run(`${scheme}://one.test`, { [name]: proxyUrl() });
  expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: "I hear you.\n" });
  expect(seen).toEqual([line]);
});

test("hosts of NO_PROXY and this machine are reached without a proxy", async () => {
  const dead = { HTTP_PROXY: "http://127.0.0.1:1", HTTPS_PROXY: "http://127.0.0.1:1" };
  expect(await run(provider.url, dead)).toMatchObject({ code: 0 });
  const named = await run(
    "http://below.one.test",
    {
      HTTP_PROXY: proxyUrl(),
      NO_PROXY: "other.test,one.test",
    },
    FAILING_SECONDS,
  );
  // The name does not exist outside of the proxy.
  expect(named.stderr).toMatch(/below\.one\.test: (ENOTFOUND|EAI_AGAIN)/);
  expect(seen).toEqual([]);
});

test.each(["http", "https"])(
  "a proxy that refuses the password is named, for %s, without it",
  async (scheme) => {
    const ran = await run(`${scheme}://one.test`, { ALL_PROXY: proxyUrl("s3cr3t-word") }, FAILING_SECONDS);
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toMatch(/the proxy refused its credentials|407 Proxy Authentication Required/);
    expect(ran.stderr).not.toContain("s3cr3t");
  },
);

test("a model may be silent for as long as stall_seconds says", async () => {
  const silent = createTcpServer((socket) => void socket.on("error", () => {}));
  await once(silent.listen(0, "127.0.0.1"), "listening");
  using own = createFixtureProject();
  const { HOME = "" } = own.env;
  const folder = join(HOME, ".config/hanzo");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "settings.json"), '{"stall_seconds": 1}');
  const env = {
    ...own.env,
    ANTHROPIC_API_KEY: "k",
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${portOf(silent)}`,
  };
  const args = [
    "run",
    "hello",
    "--provider",
    "anthropic",
    "--model",
    "m",
    "--max-time",
    `${FAILING_SECONDS}`,
  ];
  const { stderr } = await runOctant(args, { cwd: own.root, env });
  expect(stderr).toContain("anthropic sent nothing for 1 s (stall_seconds in the settings)");
  silent.close();
});
