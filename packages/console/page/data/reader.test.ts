import { expect, test } from "vitest";
import { createReader } from "./reader.ts";

function setUp() {
  const sent: (PromiseWithResolvers<string> & { readonly signal: AbortSignal })[] = [];
  const seen: unknown[] = [];
  const see = (one: unknown) => void seen.push(one);
  const load = (signal: AbortSignal) => {
    const next = { ...Promise.withResolvers<string>(), signal };
    sent.push(next);
    return next.promise;
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const open = () => sent.flatMap(({ signal }, index) => (signal.aborted ? [] : [index]));
  return { sent, seen, settle, open, reader: createReader(load, see, see) };
}

test("an answer that is slower than the changes is shown, and then the newest one", async () => {
  const { sent, seen, settle, open, reader } = setUp();
  for (let change = 0; change < 5; change++) reader.read();
  expect(open()).toEqual([0, 4]);
  sent[0]?.resolve("slow");
  await settle();
  reader.read();
  expect(open()).toEqual([0, 4, 5]);
  sent[4]?.resolve("newer");
  sent[5]?.resolve("newest");
  await settle();
  expect(seen).toEqual(["slow", "newer", "newest"]);
});

test("a read that never ends stops no other, and a newer answer ends it", async () => {
  const { sent, seen, settle, open, reader } = setUp();
  reader.read();
  reader.read();
  sent[1]?.resolve("answered");
  await settle();
  expect(seen).toEqual(["answered"]);
  expect(open()).toEqual([1]);
});

test("only the failure of the last read is shown, and nothing after the end", async () => {
  const { sent, seen, settle, reader } = setUp();
  reader.read();
  reader.read();
  sent[0]?.reject("failed");
  await settle();
  expect(seen).toEqual([]);
  sent[1]?.reject("failed again");
  await settle();
  expect(seen).toEqual(["failed again"]);
  reader.read();
  reader[Symbol.dispose]();
  sent[2]?.resolve("late");
  await settle();
  expect(seen).toEqual(["failed again"]);
});
