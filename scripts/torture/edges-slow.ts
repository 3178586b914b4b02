import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createPoster, headersOf, readMessage, textOf } from "./edges-calls.ts";
import { type EdgesServer, markedFile, startEdgesServer } from "./edges-server.ts";
import type { Torture } from "./report.ts";

const DRIP_MS = 1_000;
const CALLS = 500;
/** The server checks once a second, waits a second for the answer to a close, and is busy with the others. */
const GRACE_MS = 10_000;
const MAX_SLOWER = 2;
/** Below this, a p99 says more about the machine than about the server. */
const NOISE_MS = 25;

/** `count` clients of each kind that never finish sending; all others must hardly notice. */
export const edgesSlow: Torture = async (count, _random, onProgress) => {
  await using server = await startEdgesServer();
  const violations: string[] = [];
  const before = await p99Of(server);
  const slow = Object.entries(KINDS).flatMap(([name, kind]) =>
    Array.from({ length: count }, () => ({ name, ...kind })),
  );
  let ended = 0;
  const sockets = await Promise.all(slow.map(async (kind) => ({ ...kind, socket: await open(server) })));
  const clients = sockets.map(async ({ name, socket, first, maxMs }) => {
    const ms = await lifeOf(socket, first(server));
    if (ms > maxMs + GRACE_MS) violations.push(`${name} was let live for ${Math.round(ms)} ms`);
    onProgress(Math.floor(++ended / Object.keys(KINDS).length));
  });
  await delay(DRIP_MS);
  const during = await p99Of(server);
  await Promise.all(clients);
  if (during > Math.max(NOISE_MS, MAX_SLOWER * before))
    violations.push(
      `others waited ${during.toFixed(1)} ms (p99), without slow clients ${before.toFixed(1)} ms`,
    );
  const facts = `${slow.length} slow clients, p99 of others ${before.toFixed(1)} ms before, ${during.toFixed(1)} ms meanwhile, RSS ${Math.round(server.residentBytes() / 1024 / 1024)} MB`;
  return { what: "slow clients at the edges", facts, violations: violations.slice(0, 20) };
};

const head = ({ token }: EdgesServer, line: string) =>
  `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;

const UPGRADE =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mcp\r\n\r\n";

interface Kind {
  first(server: EdgesServer): string;
  readonly maxMs: number;
}

const KINDS: Readonly<Record<string, Kind>> = {
  "half a header": { first: (server) => `${head(server, "POST /mcp")}X-Slow: `, maxMs: 10_000 },
  "half a body": {
    first: (server) => `${head(server, "POST /mcp")}Content-Length: 100000\r\n\r\n{`,
    maxMs: 30_000,
  },
  "a silent WebSocket": { first: (server) => `${head(server, "GET /ws")}${UPGRADE}`, maxMs: 30_000 },
};

async function open({ port }: EdgesServer): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

async function lifeOf(socket: Socket, first: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const start = performance.now();
  // A server that closes the connection while we write is the expected outcome.
  socket.on("error", () => {});
  socket.once("close", () => resolve());
  socket.resume().write(first);
  // After an upgrade a byte would start a frame.
  const dripping = first.endsWith(UPGRADE) ? undefined : setInterval(() => socket.write("a"), DRIP_MS);
  await promise;
  clearInterval(dripping);
  return performance.now() - start;
}

async function p99Of(server: EdgesServer): Promise<number> {
  const poster = createPoster(server);
  const times: number[] = [];
  for (let call = 0; call < CALLS; call++) {
    const { uri, text } = markedFile(call);
    const start = performance.now();
    const { body } = await poster.post(JSON.stringify(readMessage(call, uri)), headersOf(server.token));
    if (textOf(body) !== text) throw new Error(`asked for ${uri}, got ${body}`);
    times.push(performance.now() - start);
  }
  poster.close();
  return times.toSorted((a, b) => a - b)[Math.floor(CALLS * 0.99)] ?? 0;
}
