import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CallEvent, createQuestions, createTopic, createTopics, ToolError } from "@octant/core";
import { openSocketFolder } from "@octant/host";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createCallRecorder } from "../console/call-recorder.ts";
import { createAttend } from "./attend.ts";
import { createClientList } from "./client-list.ts";
import { connectTo, findProcesses, listSockets } from "./find-processes.ts";
import { followProcesses } from "./machine.ts";
import type { AttendedBatch, ControlEvent, ProcessStatus } from "./protocol.ts";
import { type ControlOptions, serveControl } from "./serve-control.ts";

let state: string;
let folder: string;
const opened: Disposable[] = [];
const calls = createTopic<{ readonly n: number; readonly pad?: string }>();
const tools = createTopic<{ readonly type: "added"; readonly tool: string }>();
const later = createTopic<{ readonly tick: number }>();
let extra: Parameters<typeof createTopics>[0] = {};

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "octant-control-"));
  folder = openSocketFolder({ XDG_STATE_HOME: state });
  extra = {};
});
afterEach(() => {
  for (const one of opened.splice(0)) one[Symbol.dispose]();
  rmSync(state, { recursive: true });
});

const STATUS: ProcessStatus = {
  pid: process.pid,
  version: "1",
  command: "serve",
  started_at: "2026-01-01T00:00:00.000Z",
  roots: ["/project"],
  clients: [],
  state: "idle",
  running_calls: 0,
  sessions: [],
  questions: [],
};

async function serve(over: Partial<ControlOptions> = {}) {
  const topics = createTopics(
    { calls: { summary: "Calls", events: calls }, tools: { summary: "Tools", events: tools } },
    () => [{ topics: extra }],
  );
  const before = listSockets(folder).length;
  opened.push(
    serveControl({
      folder,
      name: `${process.pid}-${before}.sock`,
      topics,
      status: () => STATUS,
      answer() {},
      attend: createAttend({
        topics,
        calls: createCallRecorder((text) => text),
        questions: createQuestions(),
        clients: createClientList(),
      }),
      call: () => Promise.reject(new ToolError("UNSUPPORTED", "no calls here", { what: "call", how: "" })),
      log() {},
      ...over,
    }),
  );
  await vi.waitFor(() => expect(listSockets(folder)).toHaveLength(before + 1));
}

async function find() {
  const found = await findProcesses({ XDG_STATE_HOME: state });
  opened.push(...found);
  return found;
}

test("every process with a socket is found and reports its state", async () => {
  await serve();
  await serve({ status: () => ({ ...STATUS, command: "chat" }) });
  const found = await find();
  const statuses = await Promise.all(found.map((one) => one.status()));
  expect(statuses.map(({ command }) => command).sort()).toEqual(["chat", "serve"]);
});

test("the socket of a killed process is removed by the next search", async () => {
  // No process has this number.
  const path = join(folder, `${2 ** 30}-abcdef01.sock`);
  const server = createServer().listen(path);
  await once(server, "listening");
  // What kill -9 leaves: a socket file that nobody listens at.
  await new Promise((resolve) => server.close(resolve));
  writeFileSync(path, "");
  expect(await find()).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

test("the socket of a process that does not listen yet is left alone", async () => {
  const name = `${process.pid}-abcdef01.sock`;
  writeFileSync(join(folder, name), "");
  expect(await find()).toEqual([]);
  expect(readdirSync(folder)).toEqual([name]);
});

test("a stopped process is late before one that may only be busy", async () => {
  const stopped = spawn("sleep", ["600"]);
  stopped.kill("SIGSTOP");
  const silent = createServer(() => {});
  await once(silent.listen(join(folder, `${process.pid}-0.sock`)), "listening");
  const other = createServer(() => {});
  await once(other.listen(join(folder, `${stopped.pid}-0.sock`)), "listening");
  const outcomes = new Map<number, unknown>();
  const asked = (await find()).map((client) => {
    opened.push(client);
    return client.status().catch((cause: unknown) => void outcomes.set(client.pid, cause));
  });
  await Promise.race(asked);
  // Both were asked at once, so the other one would be late by now, too.
  await new Promise((resolve) => setImmediate(resolve));
  expect([...outcomes]).toEqual([[stopped.pid, expect.objectContaining({ code: "TIMEOUT" })]]);
  stopped.kill("SIGKILL");
  for (const server of [silent, other]) server.close();
});

test("a follower gets events of all topics, from topics of tools added later too", async () => {
  await serve();
  const [client] = await find();
  const seen: ControlEvent[] = [];
  await client?.follow({}, (event) => seen.push(event));
  calls.publish({ n: 1 });
  extra = { ticks: { summary: "Ticks", events: later } };
  tools.publish({ type: "added", tool: "clock" });
  await vi.waitFor(() => expect(seen.map(({ topic }) => topic)).toContain("tools"));
  later.publish({ tick: 7 });
  await vi.waitFor(() => expect(seen).toHaveLength(3));
  expect(seen.find(({ topic }) => topic === "calls")).toMatchObject({ n: 1 });
  expect(seen.find(({ topic }) => topic === "ticks")).toMatchObject({ tick: 7 });
});

test("a follower of one topic gets its retained events first, and no others", async () => {
  const first = calls.publish({ n: 2 });
  await serve();
  const [client] = await find();
  const seen: ControlEvent[] = [];
  await client?.follow({ topics: ["calls"], retained: true }, (event) => seen.push(event));
  tools.publish({ type: "added", tool: "other" });
  const last = calls.publish({ n: 3 });
  await vi.waitFor(() => expect(seen.at(-1)?.seq).toBe(last.seq));
  expect(seen.map(({ seq }) => seq)).toContain(first.seq);
  expect(new Set(seen.map(({ topic }) => topic))).toEqual(new Set(["calls"]));
});

test("a process that starts later is followed from its first event on", async () => {
  await serve();
  const seen: ControlEvent[] = [];
  const options = { pid: undefined, topics: ["ticks"], retained: false };
  opened.push(await followProcesses({ XDG_STATE_HOME: state }, options, (event) => seen.push(event)));
  const tick = later.publish({ tick: 8 });
  extra = { ticks: { summary: "Ticks", events: later } };
  await serve();
  await vi.waitFor(() =>
    expect(seen).toContainEqual(expect.objectContaining({ topic: "ticks", seq: tick.seq })),
  );
});

test("a refused answer says why, and the connection stays usable", async () => {
  await serve({
    answer(question_id) {
      throw new ToolError("NOT_FOUND", `no question ${question_id}`, {});
    },
  });
  const [client] = await find();
  await expect(client?.answer("question_1", { answer: "once", by: "me" })).rejects.toThrow(
    "no question question_1",
  );
  expect(await client?.status()).toMatchObject({ command: "serve" });
});

test("a line that is not a request closes only its own connection", async () => {
  await serve();
  const [name = ""] = listSockets(folder);
  const [client] = await find();
  const socket = connect(join(folder, name));
  socket.write("GET / HTTP/1.1\n");
  await once(socket, "close");
  expect(await client?.status()).toMatchObject({ pid: process.pid });
});

test("a reader that stops reading learns how many events it lost, and uses bounded memory", async () => {
  await serve();
  const [name = ""] = listSockets(folder);
  const socket = connect(join(folder, name));
  socket.write(`${JSON.stringify({ id: 1, method: "follow" })}\n`);
  await once(socket, "readable");
  const pad = "x".repeat(10_000);
  for (let n = 0; n < 3_000; n += 1) {
    calls.publish({ n, pad });
    // Lets the follower take what it can.
    if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  let text = "";
  socket.setEncoding("utf8").on("data", (data) => {
    text += data;
  });
  await vi.waitFor(() => expect(text).toMatch(/"dropped":\d+/), { timeout: 10_000 });
  socket.destroy();
});

test("a process that ends takes its socket along, and readers notice", async () => {
  await serve();
  const [name = ""] = listSockets(folder);
  const client = await connectTo(folder, name);
  for (const one of opened.splice(0)) one[Symbol.dispose]();
  await client?.closed;
  expect(readdirSync(folder)).toEqual([]);
});

test("who begins to watch learns which calls run, and which ended since the time that it names", async () => {
  let now = 1;
  const own = createTopic<CallEvent>({ now: () => now });
  const facts = (trace_id: string) => ({ trace_id, tool: "fs", action: "read", caller: "me" });
  own.publish({ ...facts("known"), type: "started" });
  own.publish({ ...facts("known"), type: "ended", code: "OK" });
  now = 2;
  own.publish({ ...facts("missed"), type: "started" });
  own.publish({ ...facts("missed"), type: "ended", code: "NOT_FOUND" });
  own.publish({ ...facts("running"), type: "started" });
  const topics = createTopics({ calls: { summary: "Calls", events: own } }, () => []);
  const calls = createCallRecorder((text) => text);
  const attend = createAttend({
    topics,
    calls,
    questions: createQuestions(),
    clients: createClientList(),
  });
  await serve({ topics, attend });
  const [client] = await find();
  const seen: unknown[][] = [];
  const take = ({ events }: AttendedBatch) =>
    seen.push(...events.map(({ event }) => [event["trace_id"], event["code"]]));
  await client?.attend(take, 1);
  await vi.waitFor(() => expect(seen).toHaveLength(2));
  expect(seen).toEqual([
    ["missed", "NOT_FOUND"],
    ["running", undefined],
  ]);
});
