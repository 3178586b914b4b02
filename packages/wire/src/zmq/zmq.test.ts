import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Dealer } from "zeromq";
import { CHUNK_BYTES, createFixture, numbered } from "../../testing/fixture.ts";
import { connectRaw, request, requestId } from "../../testing/raw-peer.ts";
import { encodeFrames, MAX_BODY_BYTES, NO_REQUEST_ID } from "../hoot01/frames.ts";
import { encodeBody } from "../hoot01/message-bodies.ts";
import { signFrames } from "../hoot01/signature.ts";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import { createZmqClient, type ZmqClientOptions } from "./client.ts";
import { createKeys, loadKeys } from "./keys.ts";
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
const connect = (more: Partial<ZmqClientOptions> = {}) => {
  const client = createZmqClient({ address: fixture.address, ...more });
  onTestFinished(() => client.close());
  return client;
};
const { caller } = createFixture();
const echo = (value: unknown) => ({ tool: "demo", action: "echo", input: { value } });

describe("calls", () => {
  test("a call returns the envelope of the dispatcher", async () => {
    await start();
    const client = connect();
    const calls = [
      echo({ text: "üñí", list: [1, null, true], deep: { x: 1.5 } }),
      { tool: "demo", action: "fail", input: {} },
      { tool: "demo", action: "echo", input: { nope: 1 } },
      { tool: "demo", action: "absent", input: {} },
      { tool: "demo", action: undefined, input: undefined },
      { tool: "absent", action: "x", input: {} },
    ];
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for (const call of calls) {
      const there = await client.dispatch(call, { caller, traceparent });
      expect(there).toEqual(await fixture.dispatch(call, { caller, traceparent }));
      expect(there.envelope.meta.trace_id).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
    }
  });

  test("a thousand concurrent calls get their own answers", async () => {
    await start();
    const clients = [connect(), connect(), connect(), connect()];
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, async (_, n) => {
        const { envelope } = await clients[n % 4]!.dispatch(echo(n), { caller });
        return envelope.data;
      }),
    );
    expect(answers).toEqual(Array.from({ length: 1_000 }, (_, value) => ({ value })));
  });

  test("a server that stops while clients send ends cleanly, and the next one takes its place", async () => {
    const peer = connectRaw(fixture.address);
    for (let round = 0; round < 20; round++) {
      const server = await serveZmq(fixture);
      for (let n = 0; n < 20; n++) await peer.send(request(n, { request: echo(n) }));
      await peer.receive();
      const closing = server.close();
      for (let n = 0; n < 20; n++) await peer.send(encodeFrames({ command: "heartbeat" }));
      await closing;
      expect(existsSync(fixture.address.slice("ipc://".length))).toBe(false);
    }
  });

  test("Ready announces protocol, tools and, on request, the schemas", async () => {
    await start();
    const client = connect();
    expect(await client.ready()).toEqual({
      protocol: "HOOT01",
      name: "demo",
      version: "1",
      server_id: expect.any(String),
      tools: ["demo"],
      accepts_binary: true,
      heartbeat_ms: 2_000,
      max_body_bytes: 16 * 1024 * 1024,
    });
    const { declarations } = await client.ready({ declarations: true });
    expect(declarations?.[0]?.actions["steps"]?.input).toMatchObject({
      properties: { count: { type: "integer" } },
    });
  });

  test("a cancelled call is cancelled at the server", async () => {
    await start();
    const cancel = new AbortController();
    const answer = connect().dispatch(
      { tool: "demo", action: "hang", input: {} },
      { caller, signal: cancel.signal },
    );
    await fixture.waiting;
    cancel.abort();
    expect((await answer).envelope).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(fixture.calls).toEqual(["hang", "cancelled"]);
  });

  test("a client that leaves, or falls silent after heartbeats, has its calls cancelled", async () => {
    await start({ heartbeatMs: 100 });
    const peer = connectRaw(fixture.address);
    await peer.send(encodeFrames({ command: "heartbeat" }));
    await peer.receive();
    await peer.send(request(1, { request: { tool: "demo", action: "hang", input: {} } }));
    const { value } = await peer.receive();
    expect(value).toMatchObject({ kind: "error", error: { code: "CANCELLED" } });
  });

  test("progress comes as a stream with one request id, and the window throttles the sender without loss", async () => {
    await start();
    const seen: number[] = [];
    const options = { caller, onProgress: ({ progress }: { progress: number }) => void seen.push(progress) };
    const { envelope } = await connect().dispatch(
      { tool: "demo", action: "steps", input: { count: 60 } },
      options,
    );
    expect(envelope.data).toEqual({ done: 60 });
    expect(seen).toEqual(Array.from({ length: 60 }, (_, n) => n + 1));
  });

  test("a reader that acknowledges nothing loses the oldest chunks, and learns how many", async () => {
    await start({ heartbeatMs: 50 });
    const peer = connectRaw(fixture.address);
    const call = { tool: "demo", action: "steps", input: { count: 1_000 } };
    await peer.send(request(1, { request: call, stream: "progress", window: 2 }));
    const kinds: unknown[] = [];
    let last: unknown;
    do {
      last = (await peer.receive()).value;
      kinds.push((last as { kind: string }).kind);
    } while (kinds.at(-1) !== "stream_end");
    expect(kinds).toEqual(["stream_start", "stream_chunk", "stream_chunk", "stream_end"]);
    expect(last).toMatchObject({
      chunks: 1_000,
      dropped: 998,
      response: { kind: "success", data: { done: 1_000 } },
    });
  });
});

describe("binary parts", () => {
  const SIZE = 40 * CHUNK_BYTES + 7;

  test("a download arrives whole and in order, no faster than it is read", async () => {
    await start();
    const chunks: number[] = [];
    let bytes = 0;
    const { envelope } = await connect().dispatch(
      { tool: "demo", action: "bytes", input: { size: SIZE } },
      {
        async onBinary(chunk) {
          await new Promise(setImmediate);
          chunks.push(chunk[0] ?? -1);
          bytes += chunk.length;
        },
      },
    );
    expect(envelope).toMatchObject({ ok: true, data: { size: SIZE } });
    expect(bytes).toBe(SIZE);
    expect(chunks).toEqual(Array.from({ length: 41 }, (_, n) => n % 251));
  });

  test("bytes for a caller that takes none are UNSUPPORTED, not an answer without them", async () => {
    await start();
    const bytes = { tool: "demo", action: "bytes", input: { size: 10_000_000 } };
    const { envelope } = await connect().dispatch(bytes, { caller });
    expect(envelope.error?.code).toBe("UNSUPPORTED");
  });

  test("an upload arrives whole", async () => {
    await start();
    const upload = { mime: "application/octet-stream", size: SIZE, read: () => numbered(SIZE) };
    const { envelope } = await connect().dispatch({ tool: "demo", action: "take", input: {} }, { upload });
    const sum = Array.from({ length: 41 }, (_, n) => (n % 251) * (n < 40 ? CHUNK_BYTES : 7)).reduce(
      (a, b) => a + b,
    );
    expect(envelope).toMatchObject({ data: { bytes: SIZE, sum } });
  });

  test("an answer above the largest body is TOO_LARGE, also at the end of a stream", () => {
    const meta = { tool: "demo", action: "x", trace_id: "t", paging: { cursor: null, more: false } };
    const response = { kind: "success", data: Buffer.alloc(MAX_BODY_BYTES), meta } as const;
    expect(parseMsgPack(encodeBody(response))).toMatchObject({ error: { code: "TOO_LARGE" } });
    const end = { kind: "stream_end", stream_id: "s", chunks: 0, dropped: 0, response } as const;
    expect(parseMsgPack(encodeBody(end))).toMatchObject({
      kind: "stream_end",
      response: { error: { code: "TOO_LARGE" } },
    });
  });

  test("unannounced bytes, and more than were announced, are refused", async () => {
    await start();
    const peer = connectRaw(fixture.address);
    const raw = (n: number, body: Buffer) =>
      encodeFrames({ command: "request", contentType: "raw", requestId: requestId(n), body });
    await peer.send(raw(1, Buffer.from("x")));
    expect((await peer.receive()).value).toMatchObject({ error: { code: "INVALID_ARGUMENT" } });
    await peer.send(request(2, { request: { tool: "demo", action: "take", input: {} }, upload_bytes: 1 }));
    await peer.send(raw(2, Buffer.from("xyz")));
    expect((await peer.receive()).value).toMatchObject({ error: { code: "LIMIT_EXCEEDED" } });
  });
});

describe("retries", () => {
  test("a repeated request runs once: while it runs, and afterwards", async () => {
    await start();
    const peer = connectRaw(fixture.address);
    const hang = request(1, { request: { tool: "demo", action: "hang", input: {} } });
    await peer.send(hang);
    await fixture.waiting;
    await peer.send(hang);
    fixture.release();
    const first = await peer.receive();
    await peer.send(hang);
    expect(await peer.receive()).toEqual(first);
    expect(fixture.calls).toEqual(["hang"]);
  });

  test("a retry on a new connection gets the answer of the running request", async () => {
    await start();
    const [one, other] = [connectRaw(fixture.address), connectRaw(fixture.address)];
    const hang = request(1, { request: { tool: "demo", action: "hang", input: {} } });
    await one.send(hang);
    await fixture.waiting;
    await other.send(hang);
    await other.send(encodeFrames({ command: "heartbeat", requestId: requestId(9) }));
    await other.receive();
    fixture.release();
    expect((await other.receive()).value).toMatchObject({ kind: "success" });
    expect(fixture.calls).toEqual(["hang"]);
  });

  test("a question that waits is asked again on a new connection, under its old id", async () => {
    await start();
    const [one, other] = [connectRaw(fixture.address), connectRaw(fixture.address)];
    const ask = request(1, { request: { tool: "demo", action: "ask", input: {} }, asks: true });
    await one.send(ask);
    expect((await one.receive()).value).toMatchObject({ kind: "stream_start", tool: "demo" });
    const { chunk } = (await one.receive()).value as unknown as {
      chunk: { question: { question_id: string } };
    };
    expect(chunk).toMatchObject({ kind: "question", question: { kind: "form", message: "Really?" } });
    const { question_id } = chunk.question;
    await other.send(ask);
    expect((await other.receive()).value).toMatchObject({ kind: "stream_start" });
    expect((await other.receive()).value).toMatchObject({ kind: "stream_chunk", seq: 0, chunk });
    const about = (news: object) =>
      encodeFrames({
        command: "heartbeat",
        contentType: "msgpack",
        requestId: requestId(1),
        body: encodeMsgPack(news),
      });
    // Answers to nothing, and answers that are none, change nothing.
    await other.send(about({ question_id: "ask-9", answer: { answer: "accept" } }));
    const answer = { answer: "accept", content: { sure: true } };
    await other.send(about({ question_id, answer }));
    expect((await other.receive()).value).toMatchObject({
      kind: "stream_chunk",
      seq: 1,
      chunk: { kind: "question_settled", question_id, outcome: answer },
    });
    expect((await other.receive()).value).toMatchObject({
      kind: "stream_end",
      response: { kind: "success", data: { answer } },
    });
  });

  test("a different request under a taken id is refused", async () => {
    await start();
    const peer = connectRaw(fixture.address);
    await peer.send(request(1, { request: echo(1) }));
    await peer.receive();
    await peer.send(request(1, { request: echo(2) }));
    expect((await peer.receive()).value).toMatchObject({ error: { code: "INVALID_ARGUMENT" } });
    expect(fixture.calls).toEqual([1]);
  });

  test("a client outlives its server: the call continues when a server is back", async () => {
    let server = await start();
    const client = connect({ attempts: 100 });
    expect((await client.dispatch(echo(0), { caller })).envelope.ok).toBe(true);
    // Whether the old connection loses the request is a matter of chance, hence the rounds.
    for (let round = 1; round <= 5; round++) {
      await server.close();
      const answer = client.dispatch(echo(round), { caller });
      server = await start();
      expect((await answer).envelope).toMatchObject({ ok: true, data: { value: round } });
    }
  });

  test("a restarted server reads again for a client of its predecessor, and refuses to repeat a change", async () => {
    const first = await start();
    const { server_id } = await connect().ready();
    await first.close();
    await start();
    const peer = connectRaw(fixture.address);
    const ask = async (n: number, more: object) => {
      await peer.send(request(n, { server_id, ...more }));
      return (await peer.receive()).value;
    };
    const change = { tool: "demo", action: "change" };
    expect(await ask(1, { request: { ...change, input: {} } })).toMatchObject({
      error: { code: "INTERRUPTED" },
    });
    expect(await ask(2, { request: echo(1) })).toMatchObject({ kind: "success" });
    expect(fixture.calls).toEqual([1]);
    const client = connect();
    await client.ready();
    expect((await client.dispatch({ ...change, input: {} }, { caller })).envelope.ok).toBe(true);
  });

  test("without a server a call fails with UPSTREAM_ERROR", async () => {
    mkdirSync(fixture.folder, { recursive: true });
    const client = connect({ heartbeatMs: 20, attempts: 2 });
    for (const call of [echo(1), echo(2)]) {
      const { error } = (await client.dispatch(call, { caller })).envelope;
      expect(error?.code).toBe("UPSTREAM_ERROR");
      expect(error?.message).toContain("no answer after 2 attempts");
    }
  });
});

describe("malformed messages", () => {
  const good = request(1, { request: echo(1) });
  const replace = (at: number, frame: Uint8Array) => good.map((one, index) => (index === at ? frame : one));
  test.each<readonly [string, readonly Uint8Array[], string]>([
    ["one frame", [Buffer.from("x")], "INVALID_ARGUMENT"],
    ["another protocol", replace(0, Buffer.from("MDPC01")), "INVALID_ARGUMENT"],
    ["a Reply", replace(1, Buffer.from([0, 3])), "INVALID_ARGUMENT"],
    ["content type Json", replace(2, Buffer.from([0, 3])), "UNSUPPORTED"],
    ["the zero request id", replace(3, NO_REQUEST_ID), "INVALID_ARGUMENT"],
    ["a body that is not MsgPack", replace(6, Buffer.from([0xc1])), "INVALID_ARGUMENT"],
    ["a body that is not a request", replace(6, encodeMsgPack([1])), "INVALID_ARGUMENT"],
    ["an unknown field", replace(6, encodeMsgPack({ request: echo(1), extra: 1 })), "INVALID_ARGUMENT"],
    ["a bomb", replace(6, Buffer.alloc(70_000, 0xdc)), "INVALID_ARGUMENT"],
  ])("%s is a typed error, and the next call is answered", async (_name, frames, code) => {
    await start();
    const peer = connectRaw(fixture.address);
    await peer.send(frames);
    expect((await peer.receive()).value).toMatchObject({ kind: "error", error: { code } });
    await peer.send(good);
    expect((await peer.receive()).value).toMatchObject({ kind: "success", data: { value: 1 } });
  });
});

describe("who gets in", () => {
  test("an ipc socket is created in a folder of mode 0700, has mode 0600 itself, and is removed afterwards", async () => {
    const folder = join(fixture.folder, "new");
    const server = await start({ address: `ipc://${folder}/s` });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "s")).mode & 0o777).toBe(0o600);
    await server.close();
    expect(existsSync(join(folder, "s"))).toBe(false);
  });

  test("a folder that others can enter is refused", async () => {
    chmodSync(fixture.folder, 0o755);
    await expect(start()).rejects.toMatchObject({ code: "ACCESS_DENIED" });
  });

  test("a responding server is not replaced by a second one", async () => {
    await start();
    await expect(start()).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    expect((await connect().dispatch(echo(1), { caller })).envelope.ok).toBe(true);
  });

  test("tcp without keys is refused before anything listens", async () => {
    await expect(start({ address: "tcp://127.0.0.1:*" })).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
    });
  });

  test.each([
    "ipc://relative",
    "http://x",
    "tcp://x",
    "inproc://x",
    "tcp://127.0.0.1:70000",
    `ipc:///${"x".repeat(200)}`,
  ])("%s is not an address", async (address) => {
    await expect(start({ address })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("a server that cannot listen is refused, and leaves no socket open", async () => {
    const file = join(fixture.folder, "keys");
    const keys = createKeys(file, "curve");
    const { address } = await start({ address: "tcp://127.0.0.1:*", keys });
    await expect(start({ address, keys })).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    writeFileSync(file, readFileSync(file, "utf8").replace(/^server-secret.*\n/m, ""));
    const copy = loadKeys(file);
    await expect(start({ address: "tcp://127.0.0.1:*", keys: copy })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(() => loadKeys(join(fixture.folder, "absent"))).toThrow("copy the key file of the server");
  });

  test.each(["curve", "hmac"] as const)(
    "tcp with %s keys admits clients that have them, and no others",
    async (kind) => {
      const keys = createKeys(join(fixture.folder, "keys"), kind);
      const { address } = await start({ address: "tcp://127.0.0.1:*", keys });
      const copy = loadKeys(join(fixture.folder, "keys"));
      const { envelope } = await connect({ address, keys: copy }).dispatch(echo(1), { caller });
      expect(envelope).toMatchObject({ ok: true });

      const others = createKeys(join(fixture.folder, "others"), kind);
      const impostor =
        others.kind === "curve" && keys.kind === "curve" ? { ...others, server: keys.server } : others;
      const quick = { address, heartbeatMs: 30, attempts: 2 };
      for (const more of [{ ...quick, keys: impostor }, quick]) {
        const answer = await connect(more).dispatch(echo(2), { caller });
        expect(answer.envelope.ok).toBe(false);
      }
      expect(fixture.calls).toEqual([1]);
    },
  );

  test("an old signed message is refused, and a recorded one runs once", async () => {
    const keys = createKeys(join(fixture.folder, "keys"), "hmac");
    if (keys.kind !== "hmac") throw new Error("not the kind that was asked for");
    const { address } = await start({ address: "tcp://127.0.0.1:*", keys });
    const socket = new Dealer({ linger: 0, receiveTimeout: 30_000 });
    socket.connect(address);
    onTestFinished(() => socket.close());
    const frames = request(1, { request: echo("once") });
    const answerTo = async (signed: Uint8Array[]) => {
      await socket.send(signed);
      const [, , , , , , body = Buffer.alloc(0)] = await socket.receive();
      return parseMsgPack(body);
    };
    const old = await answerTo(signFrames(frames, keys.key, Date.now() - 120_000));
    expect(old).toMatchObject({ error: { code: "UNAUTHENTICATED" } });
    const recorded = signFrames(frames, keys.key, Date.now());
    expect(await answerTo(recorded)).toMatchObject({ kind: "success" });
    expect(await answerTo(recorded)).toMatchObject({ error: { code: "UNAUTHENTICATED" } });
    const retry = () => answerTo(signFrames(frames, keys.key, Date.now() + 1));
    expect(await retry()).toMatchObject({ kind: "success" });
    // More than the server stores of replies.
    for (let n = 2; n < 5; n++) {
      const large = request(n, { request: echo("x".repeat(4_000_000)) });
      expect(await answerTo(signFrames(large, keys.key, Date.now()))).toMatchObject({ kind: "success" });
    }
    expect(await answerTo(recorded)).toMatchObject({ error: { code: "UNAUTHENTICATED" } });
    const late = signFrames(frames, keys.key, Date.now() + 1_000);
    expect(await answerTo(late)).toMatchObject({ error: { code: "INTERRUPTED" } });
    expect(fixture.calls.filter((value) => value === "once")).toEqual(["once"]);
    const delimited = [
      Buffer.alloc(0),
      ...signFrames(request(9, { request: echo(9) }), keys.key, Date.now()),
    ];
    await socket.send(delimited);
    const [delimiter, ...rest] = await socket.receive();
    expect(delimiter?.length).toBe(0);
    expect(parseMsgPack(rest[6] ?? Buffer.alloc(0))).toMatchObject({ kind: "success", data: { value: 9 } });
    const changed = recorded.with(6, encodeMsgPack({ request: echo("other") }));
    expect(await answerTo(changed)).toMatchObject({ error: { code: "UNAUTHENTICATED" } });
  });

  test("a key file that others can read, or that is invalid, is refused", () => {
    const file = join(fixture.folder, "keys");
    createKeys(file, "curve");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    expect(() => loadKeys(file)).toThrow(/chmod 600/);
    const other = join(fixture.folder, "other");
    writeFileSync(other, "secret\n", { mode: 0o600 });
    expect(() => loadKeys(other)).toThrow(/is not a key file/);
  });
});
