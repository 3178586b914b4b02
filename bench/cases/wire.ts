import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createJobEvents, createRegistry, type Reply } from "@octant/core";
import { createZmqClient, encodeFrames, encodeMsgPack, serveZmq, type WireClient } from "@octant/wire";
import { Context, Dealer, Subscriber } from "zeromq";
import type { Bench, Case } from "../case.ts";
import { toCallLine } from "../json-rpc.ts";
import { interleave, timed, toSpread } from "../measure.ts";
import { atLeast, atMost, type Row } from "../row.ts";

const CALL = { tool: "fs", action: "help", input: { about: "stat" } };
const caller = { id: "local", access: "admin" } as const;
const BATCH = 500;
const WIDTH = 32;
const BROADCASTS = 50_000;
const TRANSFER_BYTES = 100_000_000;

export const wire: readonly Case[] = [
  { name: "ZeroMQ call", run: zmqCall },
  { name: "ZeroMQ rate", run: zmqRate },
  { name: "ZeroMQ ceiling", run: zmqCeiling },
  { name: "broadcasts lost", run: broadcasts },
  { name: "100 MB over ZeroMQ", run: transfer },
];

async function zmqCall({ startWire, effort, random }: Bench): Promise<Row> {
  await using wired = await openWire(startWire);
  const { client } = wired;
  const { frames, bytes } = await toExchange(client);
  await using echo = await startEcho(bytes);
  const spreads = await interleave(
    {
      octant: () => timed(() => client.dispatch(CALL, { caller }).then(check)),
      noOp: () => timed(() => echo.exchange(frames)),
    },
    effort,
    random,
  );
  const figure = spreads.octant.p50 / spreads.noOp.p50;
  const note = "floor: a bare DEALER and ROUTER that exchange as many bytes; ours is the help of one action";
  return { name: "ZeroMQ call", unit: "ms", ...spreads, figure, bar: atMost(2), note };
}

async function zmqRate({ startWire, octant, effort, random }: Bench): Promise<Row> {
  await using wired = await openWire(startWire);
  const { client } = wired;
  const lines = Array.from({ length: BATCH }, (_, id) =>
    toCallLine("fs", { action: "help", about: "stat" }, id),
  );
  const spreads = await interleave(
    {
      octant: async () => perSecond(await timed(() => callMany(client))),
      noOp: async () => perSecond(await timed(() => octant.stream(lines, WIDTH))),
    },
    effort,
    random,
  );
  const figure = spreads.octant.p50 / spreads.noOp.p50;
  const note = `the same call over MCP stdio is the floor; ${WIDTH} in flight`;
  return { name: "ZeroMQ rate", unit: "calls/s", ...spreads, figure, bar: atLeast(3), note };
}

/** No server on this library can be faster than one that does nothing. */
async function zmqCeiling({ startWire, octant, effort, random }: Bench): Promise<Row> {
  await using wired = await openWire(startWire);
  const { frames, bytes } = await toExchange(wired.client);
  await using echo = await startEcho(bytes);
  const lines = Array.from({ length: BATCH }, (_, id) =>
    toCallLine("fs", { action: "help", about: "stat" }, id),
  );
  const spreads = await interleave(
    {
      octant: async () => perSecond(await timed(() => echo.exchangeMany(frames))),
      noOp: async () => perSecond(await timed(() => octant.stream(lines, WIDTH))),
    },
    effort,
    random,
  );
  const figure = spreads.octant.p50 / spreads.noOp.p50;
  const note = `a bare DEALER and ROUTER with ${WIDTH} exchanges in flight against our MCP stdio: the most that the row above can reach`;
  return { name: "ZeroMQ ceiling", unit: "calls/s", ...spreads, figure, note };
}

const perSecond = (ms: number) => (BATCH / ms) * 1_000;

/** The call as frames, and the number of bytes in its answer. */
async function toExchange(client: WireClient) {
  const { envelope } = await client.dispatch(CALL, { caller });
  const bytes = encodeMsgPack({ kind: "success", data: envelope.data, meta: envelope.meta }).length;
  const body = encodeMsgPack({ request: CALL, caller });
  const frames = encodeFrames({ command: "request", contentType: "msgpack", service: "fs", body });
  return { frames, bytes };
}

async function callMany(client: WireClient): Promise<void> {
  let left = BATCH;
  const work = async () => {
    while (left-- > 0) check(await client.dispatch(CALL, { caller }));
  };
  await Promise.all(Array.from({ length: WIDTH }, work));
}

function check({ envelope }: Reply): void {
  if (!envelope.ok) throw new Error(`${envelope.error.code}: ${envelope.error.message}`);
}

/** The publisher never waits; the reader reads as fast as it can. */
async function broadcasts(): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), "octant-bench-wire-"));
  const events = createJobEvents(Date.now);
  const dispatch = () => Promise.reject(new Error("nobody calls"));
  const jobs = { events, result: () => undefined };
  const server = await serveZmq({
    registry: createRegistry([]),
    dispatch,
    caller,
    jobs,
    name: "bench",
    version: "1",
    log: () => {},
    address: `ipc://${folder}/s`,
  });
  const reader = new Subscriber({
    context: new Context(),
    linger: 0,
    receiveHighWaterMark: BROADCASTS,
    receiveTimeout: 5_000,
  });
  reader.connect(server.broadcast ?? "");
  reader.subscribe("job/");
  const publish = () =>
    events.publish({
      job_id: "job_1",
      owner: caller.id,
      type: "chunk",
      chunk: { kind: "text", text: "x".repeat(100) },
    });
  // Subscribers join late: the first message shows that they have.
  const joined = reader.receive();
  const knock = setInterval(publish, 5);
  await joined;
  clearInterval(knock);
  const first = events.nextSeq;
  const start = performance.now();
  const reading = countFrom(reader, first);
  for (let n = 0; n < BROADCASTS; n++) {
    publish();
    if (n % 100 === 0) await new Promise(setImmediate);
  }
  const received = await reading;
  const ms = performance.now() - start;
  reader.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
  const note = `${BROADCASTS} published, ${received} received in ${ms.toFixed(0)} ms; octant: received per second`;
  const rate = toSpread([(received / ms) * 1_000]);
  return {
    name: "broadcasts lost",
    unit: "calls/s",
    octant: rate,
    figure: BROADCASTS - received,
    bar: atMost(0),
    note,
  };
}

async function countFrom(reader: Subscriber, first: number): Promise<number> {
  const { parseMsgPack } = await import("@octant/wire");
  let received = 0;
  try {
    while (received < BROADCASTS) {
      const frames = await reader.receive();
      const { seq } = parseMsgPack(frames[7] ?? Buffer.alloc(0)) as { seq: number };
      if (seq >= first) received += 1;
    }
  } catch {
    // Nothing arrived for a while: the rest is lost.
  }
  return received;
}

async function transfer({ startWire }: Bench): Promise<Row> {
  await using wired = await openWire(startWire, ["--tools", "cas"]);
  const { client, child } = wired;
  const chunk = Buffer.alloc(256 * 1024, 7);
  async function* read() {
    for (let left = TRANSFER_BYTES; left > 0; left -= chunk.length)
      yield chunk.subarray(0, Math.min(left, chunk.length));
  }
  const small = await client.dispatch({ tool: "cas", action: "store", input: { content: "x" } }, {});
  check(small);
  const before = residentMegabytes(child);
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, residentMegabytes(child))), 10);
  const upload = { mime: "application/octet-stream", size: TRANSFER_BYTES, read };
  const start = performance.now();
  const stored = await client.dispatch({ tool: "cas", action: "store", input: {} }, { upload });
  check(stored);
  const { hash } = stored.envelope.data as { hash: string };
  let received = 0;
  const got = await client.dispatch(
    { tool: "cas", action: "get", input: { hash, as: "binary" } },
    {
      onBinary: (bytes) => {
        received += bytes.length;
      },
    },
  );
  check(got);
  const ms = performance.now() - start;
  clearInterval(watch);
  if (received !== TRANSFER_BYTES) throw new Error(`${received} of ${TRANSFER_BYTES} bytes arrived`);
  const grown = most - before;
  const note = `up and down in ${(ms / 1_000).toFixed(1)} s; how much the server's memory grew at most`;
  return {
    name: "100 MB over ZeroMQ",
    unit: "MB",
    octant: toSpread([grown]),
    figure: grown,
    bar: atMost(50),
    note,
  };
}

const residentMegabytes = ({ pid }: ChildProcess): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_000;

async function openWire(startWire: Bench["startWire"], flags: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), "octant-bench-wire-"));
  const address = `ipc://${folder}/s`;
  const child = startWire(["--zmq", address, "--json", ...flags]);
  await firstLine(child);
  const client = createZmqClient({ address });
  return {
    client,
    child,
    async [Symbol.asyncDispose]() {
      client.close();
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startEcho(bytes: number) {
  const folder = mkdtempSync(join(tmpdir(), "octant-bench-echo-"));
  const address = `ipc://${folder}/s`;
  const program = join(import.meta.dirname, "../echo-router.js");
  const child = spawn(process.execPath, [program, address, String(bytes)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await firstLine(child);
  const socket = new Dealer({ context: new Context(), linger: 0 });
  socket.connect(address);
  return {
    async exchange(frames: readonly Uint8Array[]) {
      await socket.send([...frames]);
      return socket.receive();
    },
    async exchangeMany(frames: readonly Uint8Array[]) {
      for (let n = 0; n < WIDTH; n++) await socket.send([...frames]);
      for (let sent = WIDTH, received = 0; received < BATCH; received++) {
        await socket.receive();
        if (sent++ < BATCH) await socket.send([...frames]);
      }
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function firstLine(child: ChildProcess): Promise<void> {
  if (child.stdout) await once(createInterface({ input: child.stdout }), "line");
}

async function end(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
