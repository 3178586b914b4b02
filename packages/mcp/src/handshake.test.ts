import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { createDemo } from "../testing/demo.ts";
import { createLineClient } from "../testing/lines.ts";
import { CAPABILITIES_KEY, MODERN_VERSION, VERSION_KEY } from "./era.ts";
import { answerHandshake, type HandshakeResults } from "./handshake.ts";
import { serveStdio } from "./stdio.ts";

const demo = createDemo();

/** Like the command: the handshake is answered from the cache, the rest by the server. */
function start(results: HandshakeResults | undefined) {
  const client = createLineClient();
  const { input, output } = client;
  const early = results && answerHandshake(input, output, results);
  const serve = async () => {
    const handshake = await early;
    return serveStdio({ ...demo.options, input, output, ...(handshake && { handshake }) });
  };
  const server = serve();
  onTestFinished(async () => (await server).close());
  return { ...client, early, server };
}

async function cache(): Promise<HandshakeResults> {
  const { server } = start(undefined);
  // As after a round trip through the disk.
  return JSON.parse(JSON.stringify((await server).handshakeResults()));
}

const request = (id: number, method: string, params: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const initialize = (protocolVersion: string, name = "test") =>
  request(1, "initialize", { protocolVersion, capabilities: {}, clientInfo: { name, version: "1" } });
const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
const echo = (id: number, _meta?: object) =>
  request(id, "tools/call", { name: "demo", arguments: { action: "echo", text: "é" }, _meta });
const modern = { _meta: { [VERSION_KEY]: MODERN_VERSION, [CAPABILITIES_KEY]: {} } };

const SESSIONS: Readonly<Record<string, readonly object[]>> = {
  handshake: [initialize("2025-11-25"), initialized, request(2, "tools/list"), echo(3)],
  "older revision": [initialize("2025-03-26"), initialized, request(2, "ping"), echo(3)],
  "unknown revision": [initialize("1999-01-01"), initialized, request(2, "tools/list"), echo(3)],
  modern: [request(1, "server/discover", modern), request(2, "tools/list", modern), echo(3, modern._meta)],
  "a client that shows text": [
    initialize("2025-11-25", "claude-code"),
    initialized,
    request(2, "tools/list"),
    echo(3),
  ],
  "a call at once": [echo(1), request(2, "tools/list")],
  "beyond the handshake": [
    initialize("2025-11-25"),
    initialized,
    request(2, "logging/setLevel", { level: "info" }),
  ],
};

const answersTo = async (results: HandshakeResults | undefined, session: readonly object[]) => {
  const { send, next } = start(results);
  send(...session);
  const asked = session.filter((message) => "id" in message);
  const lines: string[] = [];
  for (const _ of asked) lines.push(await next());
  return lines.map((line) => line.replaceAll(/[0-9a-f]{32}/g, "trace")).sort();
};

test.each(Object.entries(SESSIONS))(
  "a handshake has the same answers from the cache and from the server: %s",
  async (_, session) => {
    expect(await answersTo(await cache(), session)).toEqual(await answersTo(undefined, session));
  },
);

test("each request is answered once for any chunks", async () => {
  const results = await cache();
  const session = SESSIONS["handshake"] ?? [];
  const bytes = Buffer.from(session.map((message) => `${JSON.stringify(message)}\r\n`).join(""));
  const cuts = fc.uniqueArray(fc.nat(bytes.length), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(cuts, async (at) => {
      const { input, next, seen } = start(results);
      const ends = [...at.toSorted((a, b) => a - b), bytes.length];
      for (const [n, end] of ends.entries()) {
        input.write(bytes.subarray(ends[n - 1] ?? 0, end));
        await turn();
      }
      for (let answers = 0; answers < 3; answers++) await next();
      expect(seen.map((line) => JSON.parse(line).id)).toEqual([1, 2, 3]);
    }),
    { numRuns: 30 },
  );
});

test("the server that takes over knows the handshake: it reports a changed list", async () => {
  const { send, next, early } = start(await cache());
  send(initialize("2025-11-25"), initialized, request(2, "tools/list"));
  await next();
  await next();
  send(echo(3));
  expect((await early)?.answered).toHaveLength(3);
  await next();
  demo.registry.addTool({ name: "later", summary: "Came later.", actions: {} });
  onTestFinished(() => void demo.registry.removeTool("later"));
  expect(JSON.parse(await next())).toMatchObject({ method: "notifications/tools/list_changed" });
});

test("a client that disconnects early needs no server", async () => {
  const { input, output, send, next } = createLineClient();
  const gone = answerHandshake(input, output, await cache());
  send(initialize("2025-11-25"), initialized, request(2, "tools/list"));
  await next();
  await next();
  input.end();
  expect(await gone).toMatchObject({ ended: true });
});
