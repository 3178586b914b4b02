import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { createJobEvents } from "@octant/core";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Subscriber } from "zeromq";
import { CHUNK_BYTES, createFixture, numbered } from "../../testing/fixture.ts";
import { connectRaw, type RawPeer, request } from "../../testing/raw-peer.ts";
import { encodeFrames } from "../hoot01/frames.ts";
import { broadcastPassword } from "../hoot01/signature.ts";
import { parseMsgPack } from "../msgpack/codec.ts";
import { createZmqClient } from "./client.ts";
import { createKeys } from "./keys.ts";
import { serveZmq, type ZmqServerOptions } from "./server.ts";

let fixture: ReturnType<typeof createFixture>;
beforeEach(() => {
  fixture = createFixture();
});
afterEach(() => {
  expect(fixture.bugs).toEqual([]);
  fixture.remove();
});

const start = async (more: Partial<ZmqServerOptions> = {}) => {
  const server = await serveZmq({ ...fixture, ...more });
  onTestFinished(() => server.close());
  return server;
};
const flood = (chunks: number, more: object = {}) => ({
  tool: "demo",
  action: "flood",
  input: { chunks, bytes: 1_000, ...more },
});
const bytes = (size: number, chunk = CHUNK_BYTES) => ({
  tool: "demo",
  action: "bytes",
  input: { size, chunk },
});

/** Reads replies up to the end of the stream; acknowledges as it goes unless told otherwise. */
async function readStream(peer: RawPeer, n: number, { acknowledges = true } = {}) {
  const kinds: unknown[] = [];
  const seqs: unknown[] = [];
  const parts: Uint8Array[] = [];
  for (let received = 1; ; received++) {
    const { contentType, body, value } = await peer.receive();
    if (contentType === "raw") parts.push(body);
    else kinds.push(value?.["kind"]);
    if (value?.["kind"] === "stream_chunk") seqs.push(value["seq"]);
    if (value?.["kind"] === "stream_end" || value?.["kind"] === "error")
      return { kinds, seqs, parts, end: value };
    if (value?.["kind"] === "stream_start") received = 0;
    else if (acknowledges) await peer.tell(n, { received });
  }
}
const count = (n: number) => Array.from({ length: n }, (_, index) => index);

describe("a stream of text", () => {
  test("is whole for a slow reader, although the call has ended long before", async () => {
    await start();
    const peer = connectRaw(fixture.address);
    await peer.send(request(1, { request: flood(500), stream: "live", window: 2 }));
    const { seqs, end } = await readStream(peer, 1);
    expect(seqs).toEqual(count(500));
    expect(end).toMatchObject({ chunks: 500, dropped: 0, response: { kind: "success" } });
  });

  test("of more than the server stores says how much a reader has missed", async () => {
    await start({ heartbeatMs: 50 });
    const peer = connectRaw(fixture.address);
    await peer.send(request(1, { request: flood(300, { bytes: 40_000 }), stream: "live", window: 2 }));
    const { seqs, end } = await readStream(peer, 1);
    expect(seqs.length).toBeLessThan(300);
    expect(end).toMatchObject({ chunks: 300, dropped: 300 - seqs.length });
  });

  test("is whole for a reader that comes back on another connection", async () => {
    await start();
    const lost = connectRaw(fixture.address);
    const asked = request(1, { request: flood(50, { wait: true }), stream: "live", window: 4 });
    await lost.send(asked);
    for (let n = 0; n < 5; n++) await lost.receive();
    await lost.tell(1, { received: 2 });
    for (let n = 0; n < 2; n++) await lost.receive();
    lost.close();
    const back = connectRaw(fixture.address);
    await back.send(asked);
    fixture.release();
    const { kinds, seqs, end } = await readStream(back, 1);
    expect(kinds[0]).toBe("stream_start");
    expect([...new Set([0, 1, ...seqs])]).toEqual(count(50));
    expect(end).toMatchObject({ chunks: 50, dropped: 0, response: { kind: "success" } });
  });

  test("tells our own client what is missing", async () => {
    await start();
    const client = createZmqClient({ address: fixture.address });
    onTestFinished(() => client.close());
    const seen: unknown[] = [];
    const onStream = (chunk: { kind: string; text?: string; chunks?: number }) =>
      seen.push(chunk.chunks ?? Number(chunk.text?.split(" ")[0]));
    const caller = fixture.caller;
    await client.dispatch(flood(200), { caller, onStream });
    expect(seen).toEqual(count(200));
  });
});

describe("a download", () => {
  const SIZE = 100 * CHUNK_BYTES + 7;
  const isWhole = async (parts: readonly Uint8Array[]) =>
    Buffer.concat(parts).equals(Buffer.concat(await Array.fromAsync(numbered(SIZE))));

  test("that is asked for again on another connection starts again, and arrives whole", async () => {
    await start();
    const lost = connectRaw(fixture.address);
    await lost.send(request(1, { request: bytes(SIZE) }));
    for (let n = 0; n < 40; n++) await lost.receive();
    const back = connectRaw(fixture.address);
    await back.send(request(1, { request: bytes(SIZE) }));
    const { kinds, parts, end } = await readStream(back, 1);
    expect(kinds[0]).toBe("stream_start");
    expect(await isWhole(parts)).toBe(true);
    expect(end).toMatchObject({ response: { kind: "success" } });
    expect(fixture.calls).toEqual(["bytes"]);
  });

  test("that is asked for again after its end arrives whole, and runs once", async () => {
    await start();
    const peer = connectRaw(fixture.address);
    for (let round = 0; round < 2; round++) {
      await peer.send(request(1, { request: bytes(SIZE) }));
      const { parts, end } = await readStream(peer, 1);
      expect(await isWhole(parts)).toBe(true);
      expect(end).toMatchObject({ response: { kind: "success" } });
    }
    expect(fixture.calls).toEqual(["bytes"]);
  });

  test("ends with its last reply, also when the queue of the connection is full of others", async () => {
    await start();
    const peer = connectRaw(fixture.address, { receiveHighWaterMark: 1 });
    const calls = 40;
    for (let n = 0; n < calls; n++) await peer.send(request(n, { request: bytes(6_000, 100) }));
    const sizes = new Map<string, number>();
    for (let ended = 0; ended < calls; ) {
      const { contentType, requestId, body, value } = await peer.receive();
      const key = Buffer.from(requestId).toString("hex");
      if (contentType === "raw") sizes.set(key, (sizes.get(key) ?? 0) + body.length);
      if (value?.["kind"] === "stream_end") ended += 1;
    }
    expect([...sizes.values()]).toEqual(Array(calls).fill(6_000));
  });

  test("in a call that also streams text announces its bytes", async () => {
    await start();
    const peer = connectRaw(fixture.address);
    await peer.send(request(1, { request: bytes(SIZE), stream: "live" }));
    const { parts } = await readStream(peer, 1);
    expect(await isWhole(parts)).toBe(true);
  });
});

test("acknowledging or answering does not oblige a client to send heartbeats", async () => {
  await start({ heartbeatMs: 50 });
  const [quiet, gone] = [connectRaw(fixture.address), connectRaw(fixture.address)];
  const hang = { tool: "demo", action: "hang", input: {} };
  await quiet.send(request(1, { request: hang }));
  await quiet.tell(1, { received: 0 });
  await quiet.tell(1, { question_id: "ask-1", answer: { action: "accept" } });
  await fixture.waiting;
  // By the time that this one counts as gone, the other would, too.
  await gone.send(request(2, { request: hang }));
  await gone.send(encodeFrames({ command: "heartbeat" }));
  await gone.receive();
  expect((await gone.receive()).value).toMatchObject({ error: { code: "CANCELLED" } });
  fixture.release();
  expect((await quiet.receive()).value).toMatchObject({ kind: "success" });
});

test("only the connection of a request can acknowledge, answer or cancel it, or send its bytes", async () => {
  await start();
  const [mine, other] = [connectRaw(fixture.address), connectRaw(fixture.address)];
  await mine.send(request(1, { request: { tool: "demo", action: "ask", input: {} }, asks: true }));
  await mine.receive();
  const { chunk } = (await mine.receive()).value as unknown as {
    chunk: { question: { question_id: string } };
  };
  const { question_id } = chunk.question;
  await other.tell(1, { question_id, answer: { answer: "accept" } });
  await other.send(encodeFrames({ command: "disconnect", requestId: Buffer.alloc(16, 2) }));
  await other.send(encodeFrames({ command: "heartbeat" }));
  await other.receive();
  await mine.tell(1, { question_id, answer: { answer: "decline" } });
  expect((await mine.receive()).value).toMatchObject({ chunk: { kind: "question_settled", question_id } });
  expect((await mine.receive()).value).toMatchObject({
    response: { kind: "success", data: { answer: { answer: "decline" } } },
  });
});

test("Ready makes the schemas once for many clients", async () => {
  let made = 0;
  const list = () => {
    made += 1;
    return fixture.registry.list();
  };
  const registry = { ...fixture.registry, list };
  await start({ registry });
  const client = createZmqClient({ address: fixture.address });
  onTestFinished(() => client.close());
  const all = await Promise.all(count(100).map(() => client.ready({ declarations: true })));
  expect(new Set(all.map(({ declarations }) => declarations?.length))).toEqual(new Set([1]));
  expect(made).toBe(1);
});

describe("over tcp", () => {
  const job_id = "job_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";

  test("broadcasts of a server with HMAC keys need the key", async () => {
    const keys = createKeys(join(fixture.folder, "keys"), "hmac");
    if (keys.kind !== "hmac") throw new Error("not the kind that was asked for");
    const events = createJobEvents();
    const jobs = { events, result: () => undefined };
    const { broadcast = "" } = await start({ address: "tcp://127.0.0.1:*", keys, jobs });
    const subscribe = (more: object) => {
      const socket = new Subscriber({ linger: 0, ...more });
      onTestFinished(() => socket.close());
      socket.subscribe();
      return { socket, connect: () => socket.connect(broadcast) };
    };
    const refused = [{}, { plainUsername: "octant", plainPassword: "0".repeat(64) }].map(async (more) => {
      const { socket, connect } = subscribe(more);
      const ended = new Promise((resolve) => {
        socket.events.on("handshake:error:protocol", resolve);
        socket.events.on("handshake:error:auth", resolve);
        socket.events.on("handshake:error:other", resolve);
      });
      connect();
      await ended;
      return socket;
    });
    await Promise.all(refused);
    const credentials = { plainUsername: "octant", plainPassword: broadcastPassword(keys.key) };
    const { socket, connect } = subscribe(credentials);
    connect();
    const publishing = setInterval(() => events.publish({ job_id, owner: "local", type: "start" }), 10);
    onTestFinished(() => clearInterval(publishing));
    const frames = await socket.receive();
    expect(parseMsgPack(frames[7] ?? Buffer.alloc(0))).toMatchObject({ job_id, state: "running" });
  });

  test("a server on all interfaces announces addresses that can be reached", async () => {
    const keys = createKeys(join(fixture.folder, "keys"), "curve");
    const jobs = { events: createJobEvents(), result: () => undefined };
    const { address, broadcast } = await start({ address: "tcp://0.0.0.0:*", keys, jobs });
    expect([address, broadcast].join()).not.toContain("0.0.0.0");
    const client = createZmqClient({ address, keys });
    onTestFinished(() => client.close());
    expect((await client.ready()).broadcast).toBe(broadcast);
  });

  test("a silent connection is closed", async () => {
    const keys = createKeys(join(fixture.folder, "keys"), "curve");
    const { address } = await start({ address: "tcp://127.0.0.1:*", keys, heartbeatMs: 20 });
    const socket = connect(Number(address.split(":").at(-1)), "127.0.0.1");
    socket.resume();
    await once(socket, "close");
  });
});
