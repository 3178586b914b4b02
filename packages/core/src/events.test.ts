import fc from "fast-check";
import { expect, test } from "vitest";
import { createEventLog } from "./events.ts";

const line = (text: string) => ({ type: "chunk", chunk: { kind: "log", line: text } }) as const;

test("a reader catches up from the event it last saw, on one job or on all", () => {
  const log = createEventLog();
  log.publish("a", { type: "start" });
  log.publish("b", line("of b"));
  log.publish("a", line("of a"));
  const first = log.read(0);
  expect(first.events.map(({ job_id, seq }) => [job_id, seq])).toEqual([
    ["a", 1],
    ["b", 2],
    ["a", 3],
  ]);
  log.publish("a", { type: "end", state: "complete" });
  expect(log.read(first.next_seq).events).toEqual([{ type: "end", state: "complete", job_id: "a", seq: 4 }]);
  expect(log.read(0, "b").events.map(({ seq }) => seq)).toEqual([2]);
});

test("a slow reader loses the oldest events and is told how many", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 45 }),
      (count, most, from) => {
        const log = createEventLog({ maxEvents: most });
        for (let i = 1; i <= count; i++) log.publish("a", line(String(i)));
        const { events, dropped, next_seq } = log.read(Math.min(from, count + 1));
        const oldest = Math.max(1, count - most + 1);
        expect(next_seq).toBe(count + 1);
        expect(events.map(({ seq }) => seq)).toEqual(
          Array.from({ length: count }, (_, i) => i + 1).filter((seq) => seq >= Math.max(from, oldest)),
        );
        expect(dropped).toBe(Math.max(0, oldest - Math.max(from, 1)));
      },
    ),
  );
});

test("big events are dropped by their bytes, but the newest is always there", () => {
  const log = createEventLog({ maxEvents: 100, maxBytes: 1000 });
  for (let i = 0; i < 5; i++)
    log.publish("a", { type: "chunk", chunk: { kind: "binary", bytes: new Uint8Array(5000) } });
  expect(log.read(0).events.map(({ seq }) => seq)).toEqual([5]);
});

test("subscribers hear every event until they leave", () => {
  const log = createEventLog();
  const heard: number[] = [];
  const leave = log.subscribe(({ seq }) => heard.push(seq));
  log.publish("a", { type: "start" });
  leave();
  log.publish("a", { type: "start" });
  expect(heard).toEqual([1]);
});

test("numbers grow from restart to restart, and a reader from before one is told so", () => {
  const before = createEventLog({ startedAt: 1_000 });
  before.publish("a", { type: "start" });
  const { next_seq } = before.read(0);
  const log = createEventLog({ startedAt: 1_001 });
  log.publish("b", { type: "start" });
  log.publish("b", { type: "end", state: "complete" });
  const caughtUp = log.read(next_seq);
  expect(caughtUp).toMatchObject({ restarted: true, dropped: 0 });
  expect(caughtUp.events.map(({ type }) => type)).toEqual(["start", "end"]);
  expect(caughtUp.events[0]?.seq).toBeGreaterThan(next_seq);
  expect(log.read(caughtUp.next_seq)).toMatchObject({ events: [], restarted: false });
  expect(log.read(0)).toMatchObject({ restarted: false, dropped: 0 });
});

test("a reader is served from the beginning when the clock was set back between two servers", () => {
  const { nextSeq } = createEventLog({ startedAt: 2_000 });
  const log = createEventLog({ startedAt: 1_000 });
  log.publish("a", { type: "start" });
  expect(log.read(nextSeq)).toMatchObject({ restarted: true, events: [{ type: "start" }] });
});
