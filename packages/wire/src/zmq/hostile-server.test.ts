import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Router } from "zeromq";
import { encodeFrames, parseFrames } from "../hoot01/frames.ts";
import { encodeMsgPack } from "../msgpack/codec.ts";
import { createZmqClient, type ZmqClientOptions } from "./client.ts";

const meta = { tool: "t", action: "a", trace_id: "", paging: { cursor: null, more: false } };

/** A server that answers every Request with these bodies. */
async function serve(bodies: (requests: number) => Iterable<unknown>) {
  const folder = mkdtempSync(join(tmpdir(), "octant-hostile-"));
  const address = `ipc://${folder}/s`;
  const router = new Router({ linger: 0 });
  await router.bind(address);
  let requests = 0;
  const run = async () => {
    for await (const [identity = Buffer.alloc(0), ...frames] of router) {
      const { message } = parseFrames(frames, { routed: false });
      if (message.command !== "request") continue;
      for (const value of bodies(requests++)) {
        const body = value instanceof Uint8Array ? value : encodeMsgPack(value);
        const reply = {
          command: "reply",
          contentType: "msgpack",
          requestId: message.requestId,
          body,
        } as const;
        await router.send([identity, ...encodeFrames(reply)]);
      }
    }
  };
  // Sending fails once the test has closed it.
  const ended = run().catch(() => {});
  return {
    connect: (more: Partial<ZmqClientOptions> = {}) => createZmqClient({ address, ...more }),
    async [Symbol.asyncDispose]() {
      router.close();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

const call = { tool: "t", action: "a", input: {} };

test.each<[string, unknown]>([
  ["nil", null],
  ["a list", []],
  ["no kind", { meta }],
  ["an unknown kind", { kind: "maybe", meta }],
  ["no meta", { kind: "success", data: 1 }],
  ["an unknown error code", { kind: "error", meta, error: { code: "NOPE", message: "x", details: {} } }],
  [
    "a code of the prototype",
    { kind: "error", meta, error: { code: "constructor", message: "x", details: {} } },
  ],
  ["an error without a message", { kind: "error", meta, error: { code: "NOT_FOUND", details: {} } }],
  ["an end without a response", { kind: "stream_end", stream_id: "s", chunks: 0, dropped: 0 }],
  ["a chunk without a number", { kind: "stream_chunk", stream_id: "s", chunk: {} }],
  ["attachments that are no list", { kind: "success", meta, data: 1, attachments: 7 }],
  ["bytes that are not MsgPack", new Uint8Array([0xc1, 0xff])],
])("an answer that is %s fails its own call, and the next one is answered", async (_, bad) => {
  await using server = await serve((requests) => [requests === 0 ? bad : { kind: "success", data: 1, meta }]);
  const client = server.connect();
  const first = await client.dispatch(call, {});
  expect(first.envelope).toMatchObject({ ok: false, error: { code: expect.stringMatching(/^[A-Z_]+$/) } });
  expect((await client.dispatch(call, {})).envelope).toMatchObject({ ok: true, data: 1 });
  client.close();
});

test("a server that floods fails the call, and timers of this process go on", async () => {
  await using server = await serve(function* () {
    for (let seq = 0; ; seq++)
      yield { kind: "stream_chunk", stream_id: "s", seq, chunk: { kind: "log", line: "x" } };
  });
  const gone = Promise.withResolvers<string>();
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const client = server.connect({ maxMessagesPerSecond: 1_000, onGone: gone.resolve });
  const { envelope } = await client.dispatch(call, { onStream: () => {} });
  clearInterval(timer);
  expect(envelope.error).toMatchObject({ code: "UPSTREAM_ERROR" });
  expect(await gone.promise).toContain("sent more than 1000 messages");
  expect(ticks).toBeGreaterThan(0);
  client.close();
});
