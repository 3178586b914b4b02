import { createInterface } from "node:readline";
import { PassThrough, Readable, Writable } from "node:stream";
import { defineTool, MAX_CALLS_IN_FLIGHT, MAX_LARGE_CALLS } from "@octant/core";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { createDemo } from "../testing/demo.ts";
import { createLineClient } from "../testing/lines.ts";
import { MAX_LINE_BYTES, type StdioServer, serveStdio } from "./stdio.ts";

const servers: StdioServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

function start() {
  const client = createLineClient();
  const demo = createDemo();
  const server = serveStdio({ ...demo.options, ...client });
  servers.push(server);
  const answer = async () => JSON.parse(await client.next());
  return { ...client, ...demo, server, answer };
}
const request = (id: unknown, method: string, params?: object) => ({ jsonrpc: "2.0", id, method, params });
const call = (id: unknown, args: object, _meta?: object) =>
  request(id, "tools/call", { name: "demo", arguments: args, _meta });
const cancel = (requestId: unknown) => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});
const echo = (id: unknown, text: string) => call(id, { action: "echo", text });

test("the answers are the same for any chunks", async () => {
  const messages = [request(1, "ping"), echo(2, "é𝄞漢"), "{no json", request("三", "ping")];
  const bytes = Buffer.from(
    messages.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\r\n`).join(""),
  );
  const play = async (chunks: Buffer[]) => {
    const { input, next, server } = start();
    for (const chunk of chunks) input.write(chunk);
    const lines = await Promise.all(messages.map(next));
    await server.close();
    return lines.map((line) => line.replaceAll(/[0-9a-f]{32}/g, "trace")).sort();
  };
  const whole = await play([bytes]);
  expect(await play(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(whole);
  for (let at = 1; at < bytes.length; at++) {
    expect(await play([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
  }
});

test("invalid JSON, or JSON nested too deep, is a parse error without an id, and the next call is answered", async () => {
  const { input, send, answer } = start();
  for (const line of ["{", "\ufeff{}", "[".repeat(10_000_000), `{"a":${"[".repeat(65)}${"]".repeat(65)}}`]) {
    input.write(`${line}\n`);
    expect(await answer()).toMatchObject({ id: null, error: { code: -32700 } });
  }
  send(request(1, "ping"));
  expect(await answer()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
});

test("tools that change together are announced once", async () => {
  const { send, answer, seen, options } = start();
  const clientInfo = { name: "test", version: "1" };
  send(request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }));
  await answer();
  send({ jsonrpc: "2.0", method: "notifications/initialized" }, request(2, "ping"));
  await answer();
  for (const name of ["one", "two", "three"])
    options.registry.addTool(defineTool({ name, summary: "New.", actions: {} }));
  expect(await answer()).toMatchObject({ method: "notifications/tools/list_changed" });
  send(request(3, "ping"));
  expect(await answer()).toMatchObject({ id: 3 });
  expect(seen).toHaveLength(4);
});

test("a message over the limit is refused with its id, and the call after it is answered", async () => {
  const { input, send, answer } = start();
  const part = Buffer.alloc(1024 * 1024, "x");
  input.write('{"method":"tools/call","params":{"name":"');
  for (let sent = 0; sent <= MAX_LINE_BYTES; sent += part.length) input.write(part);
  input.write('"},"jsonrpc":"2.0","id":41}\n');
  expect(await answer()).toMatchObject({ id: 41, error: { code: -32600 } });
  send(request(1, "ping"));
  expect(await answer()).toMatchObject({ id: 1, result: {} });
});

test("no input crashes it or stops it from answering", async () => {
  const valid = JSON.stringify(echo(7, "text"));
  const mutated = fc
    .tuple(fc.nat(valid.length), fc.nat(8), fc.string({ unit: "binary", maxLength: 8 }))
    .map(([at, cut, put]) => Buffer.from(valid.slice(0, at) + put + valid.slice(at + cut)));
  const misused = fc
    .record({ jsonrpc: fc.constant("2.0"), id: fc.jsonValue(), method: fc.string(), params: fc.jsonValue() })
    .map((message) => Buffer.from(JSON.stringify(message)));
  const noise = fc.oneof(fc.uint8Array().map(Buffer.from), mutated, misused);
  await fc.assert(
    fc.asyncProperty(fc.array(noise, { minLength: 1, maxLength: 8 }), async (lines) => {
      const { input, send, seen, next, bugs, server } = start();
      for (const line of lines) input.write(Buffer.concat([line, Buffer.from("\n")]));
      send(echo("last", "still here"));
      while (!seen.some((line) => line.includes('"id":"last"'))) await next();
      expect(bugs).toEqual([]);
      await server.close();
    }),
    { numRuns: 100 },
  );
});

test("calls run concurrently and each is answered when it is done", async () => {
  const { send, answer, waiting } = start();
  send(call("slow", { action: "wait" }));
  await waiting.started;
  send(echo("quick", "x"), call("go", { action: "go" }));
  const ids = [await answer(), await answer(), await answer()].map(({ id }) => id);
  expect(ids.slice(0, 2)).toEqual(["quick", "go"]);
  expect(ids[2]).toBe("slow");
});

test("a cancelled call is aborted and never answered", async () => {
  const { send, answer, waiting, seen } = start();
  send(call(1, { action: "wait" }));
  await waiting.started;
  send(cancel(2), cancel("1"), cancel(1), call(3, { action: "go" }));
  expect(await answer()).toMatchObject({ id: 3, result: { structuredContent: { data: { cancelled: 1 } } } });
  expect(seen).toHaveLength(1);
});

test("two calls with one id are both answered, and cancelling ends the later", async () => {
  const { send, answer, waiting } = start();
  send(echo(1, "a"), echo(1, "b"));
  expect([await answer(), await answer()].map(({ id }) => id)).toEqual([1, 1]);
  send(call(2, { action: "wait" }));
  await waiting.started;
  send(call(2, { action: "wait" }), cancel(2), call(3, { action: "go" }));
  expect(await answer()).toMatchObject({ id: 3, result: { structuredContent: { data: { cancelled: 1 } } } });
});

test("progress reaches a client that gave a token, before the answer, and no other client", async () => {
  const { send, answer, waiting } = start();
  send(call(1, { action: "wait" }, { progressToken: "t" }));
  expect(await answer()).toEqual({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: "t", progress: 1, total: 2, message: "half" },
  });
  await waiting.started;
  send(call(2, { action: "go" }));
  expect([await answer(), await answer()].map(({ id }) => id).sort()).toEqual([1, 2]);
});

test("calls beyond the limit are refused with OVERLOADED while the others continue", async () => {
  const { send, answer, waiting } = start();
  send(...Array.from({ length: MAX_CALLS_IN_FLIGHT + 1 }, (_, id) => call(id, { action: "wait" })));
  await waiting.started;
  const { id, result } = await answer();
  expect(id).toBe(MAX_CALLS_IN_FLIGHT);
  expect(result.structuredContent).toMatchObject({
    error: { code: "OVERLOADED", details: { retry_after_ms: 250 } },
  });
  send(cancel(0), echo("later", "x"));
  expect(await answer()).toMatchObject({ id: "later" });
});

test("the trace id of a call is the client's", async () => {
  const { send, answer } = start();
  const trace = "0af7651916cd43dd8448eb211c80319c";
  send(call(1, { action: "fail" }, { traceparent: `00-${trace}-b7ad6b7169203331-01` }));
  expect((await answer()).result.structuredContent.meta.trace_id).toBe(trace);
});

test("while the reader is slow no further calls are taken, and none is lost", async () => {
  const count = 40;
  const input = Readable.from(oneCallPerTurn(count), { objectMode: false, highWaterMark: 1 });
  const written: string[] = [];
  let release: (() => void) | undefined;
  const output = new Writable({
    highWaterMark: 1024,
    write(chunk, _encoding, done) {
      written.push(String(chunk));
      release = done;
    },
  });
  const demo = createDemo();
  let taken = 0;
  const dispatch: typeof demo.options.dispatch = (one, options) => {
    taken++;
    return demo.options.dispatch(one, options);
  };
  const server = serveStdio({ ...demo.options, dispatch, input, output });
  for (let turns = 0; turns < count * 2; turns++) await turn();
  expect(taken).toBeLessThan(count / 4);
  for (let turns = 0; turns < count * 20; turns++) {
    release?.();
    await turn();
  }
  await server.closed;
  const ids = written.join("").trim().split("\n");
  expect(ids.map((line) => JSON.parse(line).id)).toEqual(Array.from({ length: count }, (_, id) => id));
});

/** A server whose answers are read only on request, and the number of calls it has started. */
function startUnread() {
  const demo = createDemo();
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: 1024 });
  const started: number[] = [];
  const dispatch: typeof demo.options.dispatch = (one, options) => {
    started.push(started.length);
    return demo.options.dispatch(one, options);
  };
  servers.push(serveStdio({ ...demo.options, dispatch, input, output }));
  const readIds = async (count: number) => {
    const ids: unknown[] = [];
    for await (const line of createInterface(output)) if (ids.push(JSON.parse(line).id) === count) break;
    return ids;
  };
  return { input, started, readIds };
}
const burst = (calls: object[]) => calls.map((one) => `${JSON.stringify(one)}\n`).join("");

test("of a burst in one chunk only some calls start until the reader reads, and none is lost", async () => {
  const { input, started, readIds } = startUnread();
  const count = 1_000;
  input.write(burst(Array.from({ length: count }, (_, id) => call(id, { action: "big", size: 5_000 }))));
  for (let turns = 0; turns < 100; turns++) await turn();
  expect(started.length).toBeLessThan(count / 10);
  expect(await readIds(count)).toEqual(Array.from({ length: count }, (_, id) => id));
});

test("of calls for large answers a few run at once, the others wait, and small ones pass them", async () => {
  const { input, started, readIds } = startUnread();
  // The action rejects the parameter, but that is an answer too.
  const large = Array.from({ length: 20 }, (_, id) => call(id, { action: "echo", max_bytes: 10_000_000 }));
  input.write(burst([...large, cancel(19), echo("small", "x".repeat(2_000))]));
  for (let turns = 0; turns < 100; turns++) await turn();
  expect(started).toHaveLength(MAX_LARGE_CALLS + 1);
  const ids = await readIds(20);
  expect(ids.indexOf("small")).toBeLessThanOrEqual(MAX_LARGE_CALLS);
  expect(ids).not.toContain(19);
});

test("a burst right before the end of the input is answered", async () => {
  const { input, server, seen } = start();
  input.end(burst(Array.from({ length: 100 }, (_, id) => echo(id, "x"))));
  await server.closed;
  expect(seen.map((line) => JSON.parse(line).id)).toEqual(Array.from({ length: 100 }, (_, id) => id));
});

async function* oneCallPerTurn(count: number) {
  for (let id = 0; id < count; id++) {
    yield Buffer.from(`${JSON.stringify(call(id, { action: "big", size: 5_000 }))}\n`);
    await turn();
  }
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("when the input ends, running calls are cancelled and the server is closed at once", async () => {
  const { input, send, waiting, server, seen } = start();
  send(call(1, { action: "wait" }));
  await waiting.started;
  input.end();
  await server.closed;
  expect(waiting.cancelled).toBe(1);
  expect(seen).toEqual([]);
});

test("answers that were ready when the input ended are still sent", async () => {
  const { input, send, server, seen } = start();
  send(echo(1, "x"), call(2, { action: "big", size: 100_000 }));
  input.end();
  await server.closed;
  expect(seen.map((line) => JSON.parse(line).id)).toEqual([1, 2]);
});

test("a reader that disconnects closes the server instead of crashing it", async () => {
  const { output, send, waiting, server } = start();
  send(call(1, { action: "wait" }));
  await waiting.started;
  output.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  await server.closed;
  expect(waiting.cancelled).toBe(1);
  send(echo(2, "nobody hears"));
});

test("a reader that stopped reading does not delay the end", async () => {
  const input = new PassThrough();
  const output = new Writable({ highWaterMark: 1, write: () => {} });
  const server = serveStdio({ ...createDemo().options, input, output });
  input.write(`${JSON.stringify(request(1, "ping"))}\n`);
  await turn();
  await server.close();
});

test("closing twice, or after the end, is the same as closing once", async () => {
  const { input, server } = start();
  input.end();
  await Promise.all([server.close(), server.close(), server.closed]);
  const late = serveStdio({ ...createDemo().options, input, output: new PassThrough() });
  await late.closed;
});

const split = { profile: "split" } as const;
const named = (name: string, action: string, demo: ReturnType<typeof createDemo>) => ({
  name,
  summary: "Demo.",
  actions: { [action]: demo.registry.get("demo")!.actions["echo"]! },
});

test("a tool list that cannot be built fails at the start, not during a client's request", () => {
  const demo = createDemo();
  demo.registry.addTool(named("a_b", "c", demo));
  demo.registry.addTool(named("a", "b_c", demo));
  const streams = { input: new PassThrough(), output: new PassThrough() };
  expect(() => serveStdio({ ...demo.options, ...streams, ...split })).toThrow(TypeError);
});

test("a tool added later that cannot be listed leaves the list unchanged, and the log has the reason", async () => {
  const demo = createDemo();
  const client = createLineClient();
  demo.registry.addTool(named("a_b", "c", demo));
  servers.push(serveStdio({ ...demo.options, ...client, ...split }));
  client.send(request(1, "tools/list"));
  const before = JSON.parse(await client.next()).result;
  demo.registry.addTool(named("a", "b_c", demo));
  client.send(request(1, "tools/list"));
  expect(JSON.parse(await client.next()).result).toEqual(before);
  expect(demo.log).toEqual([expect.stringContaining("'a_b_c' would be listed twice")]);
});

test("valid job options of a client reach the dispatcher, invalid ones do not", async () => {
  const client = createLineClient();
  const { options } = createDemo();
  const seen: object[] = [];
  const dispatch: typeof options.dispatch = (one, given) => {
    seen.push({ timingHint: given.timingHint, key: given.key });
    return options.dispatch(one, given);
  };
  servers.push(serveStdio({ ...options, ...client, dispatch }));
  const wishes = [
    { "octant/timing_hint": "async_long", "octant/key": "k" },
    { "octant/timing_hint": "soon", "octant/key": 7 },
  ];
  for (const [id, wish] of wishes.entries()) {
    client.send(call(id, { action: "echo", text: "a" }, wish));
    await client.next();
  }
  expect(seen).toEqual([{ timingHint: "async_long", key: "k" }, {}]);
});
