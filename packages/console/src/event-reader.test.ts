import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type Caller, createTopic } from "@octant/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { streamEvents } from "./event-reader.ts";
import type { SharedEvent } from "./processes.ts";

const PERSON: Caller = { id: "person", access: "admin" };
const LIMITED: Caller = { id: "colleague", access: "read", project: "demo" };
const MAX_EVENTS = 50;

async function serve() {
  const events = createTopic<SharedEvent>({ now: Date.now, maxEvents: MAX_EVENTS });
  let users = 0;
  let gap = 0;
  const use = () => {
    users += 1;
    return () => {
      users -= 1;
    };
  };
  const server = createServer((request, response) => {
    const caller = request.url === "/limited" ? LIMITED : PERSON;
    const { "last-event-id": after } = request.headers;
    streamEvents(
      response,
      { events, use, hasGapAfter: (seq) => seq < gap },
      caller,
      after === undefined ? undefined : Number(after),
      60_000,
    );
  }).listen(0);
  await once(server, "listening");
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const publish = (n: number, owner?: string, pad = "") =>
    events.publish({ process: "1-a", topic: "calls", at: n, owner, json: JSON.stringify({ n, pad }) });
  const leaveGap = () => {
    gap = events.nextSeq;
  };
  return {
    events,
    leaveGap,
    publish,
    users: () => users,
    open: (path = "/", after?: number) => open(port, path, after),
  };
}

async function open(port: number, path: string, after?: number) {
  const headers = after === undefined ? {} : { "last-event-id": String(after) };
  const request = get({ port, path, headers });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const seen: { n: number; seq: number }[] = [];
  let lost = 0;
  let messages = 0;
  let rest = "";
  response.setEncoding("utf8");
  response.on("error", () => {});
  const read = () =>
    response.on("data", (text: string) => {
      const parts = (rest + text).split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        const data = /^data: (.*)$/m.exec(part)?.[1];
        if (data === undefined) continue;
        messages += 1;
        const batch = JSON.parse(data);
        lost += batch.lost;
        seen.push(
          ...batch.events.map((one: { seq: number; event: object }) => ({ ...one.event, seq: one.seq })),
        );
      }
    });
  return { seen, lost: () => lost, messages: () => messages, read, response, close: () => request.destroy() };
}

test("events of one moment come in one message, and a reader continues after the number that it knows", async () => {
  const { publish, open: connect } = await serve();
  const reader = await connect();
  reader.read();
  await vi.waitFor(() => expect(reader.messages()).toBe(1));
  for (let n = 0; n < 10; n += 1) publish(n);
  await vi.waitFor(() => expect(reader.seen).toHaveLength(10));
  expect(reader.messages()).toBe(2);
  const later = await connect("/", reader.seen[6]?.seq);
  later.read();
  await vi.waitFor(() => expect(later.seen.map(({ n }) => n)).toEqual([7, 8, 9]));
  expect(later.lost()).toBe(0);
});

test("a reader that stops reading loses the oldest events, learns how many, and gets the newest", async () => {
  const { publish, open: connect } = await serve();
  const reader = await connect();
  const pad = "x".repeat(200_000);
  const total = 400;
  for (let n = 0; n < total; n += 1) {
    publish(n, undefined, pad);
    // Lets the server send what the reader takes.
    if (n % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  reader.read();
  await vi.waitFor(() => expect(reader.seen.at(-1)?.n).toBe(total - 1), { timeout: 20_000 });
  expect(reader.lost()).toBeGreaterThan(0);
  expect(reader.seen.length + reader.lost()).toBe(total);
});

test("a reader that comes back after nobody looked for a while is told that events may be missing", async () => {
  const { publish, leaveGap, open: connect } = await serve();
  const { seq } = publish(1);
  leaveGap();
  const before = await connect("/", seq);
  before.read();
  await vi.waitFor(() => expect(before.lost()).toBe(1));
  const next = publish(2);
  const after = await connect("/", next.seq);
  after.read();
  publish(3);
  await vi.waitFor(() => expect(after.seen.map(({ n }) => n)).toEqual([3]));
  expect(after.lost()).toBe(0);
});

test("a caller of one project gets its own events only", async () => {
  const { publish, open: connect } = await serve();
  const reader = await connect("/limited");
  reader.read();
  publish(1, "person");
  publish(2, "colleague");
  publish(3, "");
  publish(4);
  await vi.waitFor(() => expect(reader.seen.map(({ n }) => n)).toEqual([2]));
});

test("a reader that leaves is no longer counted", async () => {
  const { users, open: connect } = await serve();
  const reader = await connect();
  expect(users()).toBe(1);
  reader.close();
  await vi.waitFor(() => expect(users()).toBe(0));
});
