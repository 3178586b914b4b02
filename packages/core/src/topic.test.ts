import fc from "fast-check";
import { expect, test } from "vitest";
import { createTopic } from "./topic.ts";

const seqs = (events: readonly { readonly seq: number }[]) => events.map(({ seq }) => seq);

test("a reader catches up from the number it last saw, on matching values only", () => {
  const topic = createTopic<string>();
  for (const value of ["a1", "b1", "a2"]) topic.publish(value);
  const first = topic.read(0);
  expect(first.events.map(({ seq, value }) => [seq, value])).toEqual([
    [1, "a1"],
    [2, "b1"],
    [3, "a2"],
  ]);
  topic.publish("a3");
  expect(topic.read(first.next_seq).events).toEqual([{ seq: 4, at: 0, value: "a3" }]);
  expect(seqs(topic.read(0, (value) => value.startsWith("b")).events)).toEqual([2]);
});

test("a slow reader loses the oldest values and learns how many", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 45 }),
      (count, maxEvents, from) => {
        const topic = createTopic<number>({ maxEvents });
        for (let i = 1; i <= count; i++) topic.publish(i);
        const { events, dropped, next_seq } = topic.read(Math.min(from, count + 1));
        const oldest = Math.max(1, count - maxEvents + 1);
        const first = Math.max(Math.min(from, count + 1), oldest);
        expect(next_seq).toBe(count + 1);
        expect(seqs(events)).toEqual(Array.from({ length: count - first + 1 }, (_, i) => first + i));
        expect(dropped).toBe(Math.max(0, oldest - Math.max(from, 1)));
      },
    ),
  );
});

test("large values are dropped by their bytes, but the newest is retained", () => {
  const topic = createTopic<string>({ maxBytes: 1_000, sizeOf: (value) => value.length });
  for (let i = 0; i < 5; i++) topic.publish("x".repeat(5_000));
  expect(seqs(topic.read(0).events)).toEqual([5]);
});

test("listeners receive every value until they stop, even if no values are retained", () => {
  const topic = createTopic<string>({ maxEvents: 0 });
  const heard: string[] = [];
  const stop = topic.listen(({ value }) => heard.push(value));
  topic.publish("one");
  expect(topic.listenerCount).toBe(1);
  stop();
  topic.publish("two");
  expect(heard).toEqual(["one"]);
  expect(topic.read(0)).toMatchObject({ events: [], dropped: 2 });
});

test("numbers grow across restarts, and a reader with an older number learns that events were lost", () => {
  const before = createTopic<string>({ now: () => 1_000 });
  before.publish("a");
  const { next_seq } = before.read(0);
  const topic = createTopic<string>({ now: () => 1_001 });
  topic.publish("b");
  const caughtUp = topic.read(next_seq);
  expect(caughtUp).toMatchObject({ restarted: true, dropped: 0, events: [{ value: "b", at: 1_001 }] });
  expect(caughtUp.events[0]?.seq).toBeGreaterThan(next_seq);
  expect(topic.read(caughtUp.next_seq)).toMatchObject({ events: [], restarted: false });
  expect(topic.read(0)).toMatchObject({ restarted: false, dropped: 0 });
  expect(createTopic({ now: () => 999 }).read(next_seq)).toMatchObject({ restarted: true });
});

test("a follower starts with missed values and continues with new ones", async () => {
  const topic = createTopic<string>({ maxEvents: 2 });
  for (const value of ["a", "b", "c"]) topic.publish(value);
  const end = new AbortController();
  const values = topic.follow(1, end.signal);
  const next = async () => (await values.next()).value;
  expect(await next()).toMatchObject({ value: "b" });
  expect(await next()).toMatchObject({ value: "c" });
  const waiting = next();
  topic.publish("d");
  expect(await waiting).toMatchObject({ value: "d", seq: 4 });
  const last = values.next();
  end.abort();
  expect(await last).toMatchObject({ done: true });
  expect(topic.listenerCount).toBe(0);
});

test("a slow follower loses the oldest values", async () => {
  const topic = createTopic<number>({ maxEvents: 2 });
  const values = topic.follow(topic.nextSeq, new AbortController().signal);
  for (const value of [1, 2, 3, 4]) topic.publish(value);
  expect((await values.next()).value).toMatchObject({ value: 3 });
  for (const value of [5, 6, 7]) topic.publish(value);
  const rest = [await values.next(), await values.next(), await values.next()];
  expect(rest.map(({ value }) => value?.value)).toEqual([4, 6, 7]);
});

test("a follower gets matching values only, and leaves no listener when it stops reading", async () => {
  const topic = createTopic<number>();
  for (const value of [1, 2, 3, 4]) topic.publish(value);
  for await (const { value } of topic.follow(0, new AbortController().signal, (one) => one % 2 === 0))
    if (value === 4) break;
  expect(topic.listenerCount).toBe(0);
});

test("a follower that was too slow learns how many values it has lost", async () => {
  const topic = createTopic<number>({ maxEvents: 2 });
  const over = new AbortController();
  const lost: number[] = [];
  const seen: number[] = [];
  for (let n = 0; n < 5; n++) topic.publish(n);
  for await (const { value } of topic.follow(1, over.signal, undefined, (count) => lost.push(count))) {
    seen.push(value);
    if (value === 4) over.abort();
  }
  expect({ seen, lost }).toEqual({ seen: [3, 4], lost: [3] });
});
