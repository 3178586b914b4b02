import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createZmqClient, encodeFrames, encodeMsgPack } from "@octant/wire";
import { Context, Dealer } from "zeromq";
import { flipped, MAX_GROWN_BYTES, MAX_NEXT_CALL_MS, WARM_UP_SHARE } from "./edges-broken.ts";
import { markedFile, startServer } from "./edges-server.ts";
import type { Report, Torture } from "./report.ts";

const WHAT = "broken HOOT01 messages";
/** Unread error replies of one peer stay below its high-water mark. */
const PEER_MESSAGES = 500;
const MEBIBYTE = 1024 * 1024;

/** For an otherwise idle machine. */
const LIMITS = {
  /**
   * Enough messages, with occasional 2 MB bodies, for the engine and the allocator to reach their final size before
   * the measurement; see 0030.
   */
  minWarmUp: 2_000,
  maxGrownBytes: MAX_GROWN_BYTES,
  /** From a server that has received nothing yet. Uncollected bodies (64 MB) and the young generation, once. */
  maxFirstGrownBytes: 128 * MEBIBYTE,
  maxNextCallMs: MAX_NEXT_CALL_MS,
};

/** For a busy machine: up to 64 messages of 2 MB wait in the socket of a server without processor time. */
export const BUSY_LIMITS: typeof LIMITS = {
  minWarmUp: 0,
  maxGrownBytes: 256 * MEBIBYTE,
  maxFirstGrownBytes: 384 * MEBIBYTE,
  maxNextCallMs: Number.POSITIVE_INFINITY,
};

/** `count` malformed, truncated, oversized and bomb messages: the server survives, as small and as fast as before. */
export const wireMalformed: Torture = (count, random, onProgress) =>
  malformedWire(count, random, LIMITS, onProgress);

export async function malformedWire(
  count: number,
  random: () => number,
  { minWarmUp, maxGrownBytes, maxFirstGrownBytes, maxNextCallMs }: typeof LIMITS,
  onProgress: (done: number) => void = () => {},
): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "octant-wire-"));
  const address = `ipc://${folder}/s`;
  await using server = startServer("--zmq", address, "--json");
  try {
    await once(createInterface({ input: server.child.stdout }), "line");
    const context = new Context();
    const fresh = server.residentBytes();
    await sendMany(Math.max(minWarmUp, count * WARM_UP_SHARE), address, context, random);
    const before = server.residentBytes();
    const answered = await sendMany(count, address, context, random, onProgress);
    const violations: string[] = [];
    if (server.child.exitCode !== null) violations.push(`the server ended: ${server.errors()}`);
    const grown = server.residentBytes() - before;
    const grownInAll = server.residentBytes() - fresh;
    const ms = await timeCall(address);
    if (grown > maxGrownBytes) violations.push(`grew by ${grown} bytes`);
    if (grownInAll > maxFirstGrownBytes) violations.push(`grew by ${grownInAll} bytes since its start`);
    if (ms > maxNextCallMs) violations.push(`the next call took ${ms} ms`);
    if (/unhandled|uncaught|bug in/i.test(server.errors())) violations.push(server.errors());
    const facts = `${count} messages, ${answered} typed errors, RSS ${toMegabytes(grown)} after a warm-up, ${toMegabytes(grownInAll)} since its start, next call ${ms.toFixed(0)} ms`;
    return { what: WHAT, facts, violations };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const toMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

async function sendMany(
  count: number,
  address: string,
  context: Context,
  random: () => number,
  onProgress: (done: number) => void = () => {},
): Promise<number> {
  let answered = 0;
  for (let done = 0; done < count; ) {
    const peer = new Dealer({ context, linger: 500, receiveTimeout: 2_000 });
    peer.connect(address);
    for (let n = 0; n < PEER_MESSAGES && done < count; n++, done++) await peer.send(brokenMessage(random));
    // One valid heartbeat at the end: its answer comes after all the others were read.
    await peer.send(encodeFrames({ command: "heartbeat" }));
    try {
      while ((await peer.receive())[1]?.[1] !== 4) answered += 1;
    } catch {
      // An oversized message closed the peer's connection.
    }
    peer.close();
    onProgress(done);
  }
  return answered;
}

const pick = <T>(random: () => number, values: readonly T[]): T =>
  values[Math.floor(random() * values.length)] as T;
const randomBytes = (random: () => number, length: number) =>
  Buffer.from(Array.from({ length }, () => random() * 256));

function brokenMessage(random: () => number): Uint8Array[] {
  const requestId = randomBytes(random, 16);
  const request = { request: { tool: "fs", action: "read", input: { uri: markedFile(1).uri } } };
  const good = encodeFrames({
    command: "request",
    contentType: "msgpack",
    requestId,
    body: encodeMsgPack(request),
  });
  const withBody = (body: Uint8Array) => good.with(6, body);
  const shapes: readonly (() => Uint8Array[])[] = [
    () => good.slice(0, Math.floor(random() * 7)),
    () => [...good, randomBytes(random, 3)],
    () => good.with(Math.floor(random() * 6), randomBytes(random, Math.floor(random() * 40))),
    () => withBody(flipped(Buffer.from(good[6] ?? []), random)),
    () => withBody((good[6] ?? new Uint8Array()).subarray(0, Math.floor(random() * 30))),
    // Bombs: nested headers, and counts beyond the body.
    () => withBody(Buffer.alloc(72_000, pick(random, [0x91, 0x81, 0xdc, 0xde]))),
    () => withBody(Buffer.from([pick(random, [0xdd, 0xdf, 0xc6, 0xdb]), 255, 255, 255, 255])),
    () => withBody(Buffer.alloc(2_000_000, 0xc0)),
    () => withBody(randomBytes(random, 200)),
    () =>
      withBody(
        encodeMsgPack(pick<unknown>(random, [null, [], {}, { request: 1 }, { request: { tool: 1 } }, "x"])),
      ),
    () => [randomBytes(random, 10)],
    () => good.with(3, Buffer.alloc(16)),
  ];
  // Rare, because each costs the connection and 17 MB of copying.
  if (random() < 0.001) return withBody(Buffer.alloc(17 * 1024 * 1024));
  return pick(random, shapes)();
}

async function timeCall(address: string): Promise<number> {
  const client = createZmqClient({ address });
  const { uri, text } = markedFile(1);
  const read = () =>
    client.dispatch(
      { tool: "fs", action: "read", input: { uri } },
      { caller: { id: "local", access: "admin" } },
    );
  // Connecting is not measured.
  await client.ready();
  const start = performance.now();
  const { envelope } = await read();
  const ms = performance.now() - start;
  client.close();
  if (JSON.stringify(envelope.data).includes(JSON.stringify(text).slice(1, -1))) return ms;
  throw new Error(`another answer: ${JSON.stringify(envelope)}`);
}
