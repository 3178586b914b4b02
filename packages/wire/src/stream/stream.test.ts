import { PassThrough } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createFixture, QUESTION } from "../../testing/fixture.ts";
import { encodeFrames } from "../hoot01/frames.ts";
import { createStreamClient, type ServerStreams } from "./client.ts";
import { encodeMessage, readMessages } from "./messages.ts";
import { serveStream } from "./server.ts";

const MESSAGES = [
  encodeFrames({ command: "heartbeat" }),
  encodeFrames({ command: "request", contentType: "raw", body: Buffer.alloc(300, 7), service: "fs" }),
  [Buffer.from("one")],
];
const BYTES = Buffer.concat(MESSAGES.map(encodeMessage));

async function* pieces(...parts: Uint8Array[]) {
  yield* parts;
}

describe("messages on a byte stream", () => {
  const expected = MESSAGES.map((frames) => frames.map((frame) => Buffer.from(frame)));

  test("are the same whole, byte by byte, and split at every offset", async () => {
    expect(await Array.fromAsync(readMessages(pieces(BYTES)))).toEqual(expected);
    const single = Array.from(BYTES, (byte) => Buffer.from([byte]));
    expect(await Array.fromAsync(readMessages(pieces(...single)))).toEqual(expected);
    for (let at = 0; at <= BYTES.length; at++)
      expect(await Array.fromAsync(readMessages(pieces(BYTES.subarray(0, at), BYTES.subarray(at))))).toEqual(
        expected,
      );
  });

  test("an incomplete last message is left out; text and oversized frames are refused", async () => {
    expect(await Array.fromAsync(readMessages(pieces(BYTES.subarray(0, -1))))).toEqual(expected.slice(0, 2));
    const refused = [Buffer.from("Welcome to the container\n"), Buffer.from([1, 255, 255, 255, 255])];
    for (const bytes of refused)
      await expect(Array.fromAsync(readMessages(pieces(bytes)))).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
  });
});

describe("a client and a server at the two ends", () => {
  let fixture: ReturnType<typeof createFixture>;
  beforeEach(() => {
    fixture = createFixture();
  });
  afterEach(() => {
    expect(fixture.bugs).toEqual([]);
    fixture.remove();
  });
  const { caller } = createFixture();
  const demo = (action: string, input: object = {}) => ({ tool: "demo", action, input });

  /** Each connection has a server of its own, as a program that is started again. */
  function connect(more: Partial<ServerStreams> = {}) {
    const opened: { up: PassThrough; down: PassThrough }[] = [];
    const client = createStreamClient({
      address: "test",
      open() {
        const [up, down] = [new PassThrough(), new PassThrough()];
        opened.push({ up, down });
        serveStream({ ...fixture, input: up, output: down });
        const close = () => {
          up.end();
          down.destroy();
        };
        return { input: down, output: up, reason: () => "it ended", close, ...more };
      },
    });
    onTestFinished(() => client.close());
    return { client, opened, lose: () => opened.at(-1)?.down.end() };
  }

  test("a server that takes long to open is not a silent one", async () => {
    const client = createStreamClient({
      ...{ address: "test", heartbeatMs: 5, silenceMs: 10 },
      async open() {
        // Many times longer than a silent server would get.
        await delay(500);
        const [up, down] = [new PassThrough(), new PassThrough()];
        serveStream({ ...fixture, input: up, output: down });
        return { input: down, output: up, reason: () => "it ended", close: () => up.end() };
      },
    });
    onTestFinished(() => client.close());
    const { envelope } = await client.dispatch(demo("echo", { value: 1 }), { caller });
    expect(envelope).toMatchObject({ ok: true, data: { value: 1 } });
  });

  test("calls, progress, questions and bytes pass as over a socket", async () => {
    const { client } = connect();
    const echo = demo("echo", { value: ["ü", 1, null] });
    expect((await client.dispatch(echo, { caller })).envelope.data).toEqual({ value: ["ü", 1, null] });
    const seen: number[] = [];
    const onProgress = ({ progress }: { progress: number }) => void seen.push(progress);
    await client.dispatch(demo("steps", { count: 30 }), { caller, onProgress });
    expect(seen).toHaveLength(30);
    const asked: unknown[] = [];
    const { envelope } = await client.dispatch(demo("ask"), {
      caller,
      ask: async (question) => {
        asked.push(question);
        return { answer: "accept", content: { sure: true } };
      },
    });
    expect(asked).toMatchObject([QUESTION]);
    expect(envelope.data).toMatchObject({ answer: { answer: "accept" } });
    let bytes = 0;
    const size = 3_000_000;
    const onBinary = (part: Uint8Array) => {
      bytes += part.length;
    };
    await client.dispatch(demo("bytes", { size }), { caller, onBinary });
    expect(bytes).toBe(size);
  });

  test("a cancelled call is cancelled there, and so are the calls of a client that leaves", async () => {
    const { client } = connect();
    const cancel = new AbortController();
    const answer = client.dispatch(demo("hang"), { caller, signal: cancel.signal });
    await fixture.waiting;
    cancel.abort();
    expect((await answer).envelope.error?.code).toBe("CANCELLED");
    void client.dispatch(demo("hang"), { caller });
    await expect.poll(() => fixture.calls).toEqual(["hang", "cancelled", "hang"]);
    client.close();
    await expect.poll(() => fixture.calls).toEqual(["hang", "cancelled", "hang", "cancelled"]);
  });

  test("a lost connection is opened again: reading is repeated, a change is INTERRUPTED", async () => {
    const { client, opened, lose } = connect();
    await client.ready();
    const reading = client.dispatch(demo("echo", { value: 1 }), { caller });
    const changing = client.dispatch(demo("change"), { caller });
    lose();
    expect((await reading).envelope.data).toEqual({ value: 1 });
    expect((await changing).envelope.error?.code).toBe("INTERRUPTED");
    expect(opened).toHaveLength(2);
    expect((await client.dispatch(demo("change"), { caller })).envelope.ok).toBe(true);
  });

  test("calls wait for a connection that opens late, also when the first attempt failed", async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let attempts = 0;
    const client = createStreamClient({
      address: "test",
      async open() {
        await gates[attempts++]?.promise;
        const [up, down] = [new PassThrough(), new PassThrough()];
        serveStream({ ...fixture, input: up, output: down });
        return { input: down, output: up, reason: () => "it ended", close: () => void up.end() };
      },
    });
    onTestFinished(() => client.close());
    const failing = client.dispatch(demo("echo", { value: 1 }), { caller });
    gates[0]?.reject(new Error("no such container"));
    expect((await failing).envelope.error?.message).toContain("no such container");
    const waiting = client.dispatch(demo("echo", { value: 2 }), { caller });
    gates[1]?.resolve();
    expect((await waiting).envelope.data).toEqual({ value: 2 });
  });

  test("a program that speaks no HOOT01 fails the calls at once, with what it printed", async () => {
    const { client } = connect({
      input: pieces(Buffer.from("no such container")),
      reason: () => "exit code 125",
    });
    const { envelope } = await client.dispatch(demo("echo"), { caller });
    expect(envelope.error?.code).toBe("UPSTREAM_ERROR");
    expect(envelope.error?.message).toContain("exit code 125");
  });
});
