import { expect, test } from "vitest";
import { CallLog, FilteredCalls, type LiveCall, MAX_CALLS } from "./call-log.ts";

const call = (trace_id: string, more: Partial<LiveCall> = {}): LiveCall => ({
  process: "p1",
  trace_id,
  tool: "fs",
  action: "read",
  caller: "client",
  started_at: 0,
  ...more,
});
const EVERYTHING = { text: "", status: "", process: "" };

test("a call that ends replaces its own row", () => {
  const log = new CallLog();
  log.add(call("a"));
  log.add(call("b", { code: "OK", duration_ms: 1 }));
  log.add(call("a", { code: "NOT_FOUND", duration_ms: 5 }));
  expect(log.rows.map(({ trace_id, code }) => [trace_id, code])).toEqual([
    ["a", "NOT_FOUND"],
    ["b", "OK"],
  ]);
});

test("the same trace id in two processes is two calls", () => {
  const log = new CallLog();
  log.add(call("a"));
  log.add(call("a", { process: "p2" }));
  expect(log.end).toBe(2);
});

test("the oldest rows are forgotten, and a filter keeps its place", () => {
  const log = new CallLog();
  const filtered = new FilteredCalls(log);
  for (let i = 0; i < MAX_CALLS; i++) log.add(call(`t${i}`, { code: "OK" }));
  expect(filtered.numbers(EVERYTHING).length).toBe(MAX_CALLS);
  log.add(call("one more", { code: "OK" }));
  expect(log.rows.length).toBeLessThan(MAX_CALLS);
  const numbers = filtered.numbers(EVERYTHING);
  expect(numbers.length).toBe(log.rows.length);
  expect(log.at(numbers.at(-1)!)?.trace_id).toBe("one more");
  expect(log.at(numbers[0]!)?.trace_id).toBe(log.rows[0]?.trace_id);
});

test("filters find by words, status and process, also rows that come later", () => {
  const log = new CallLog();
  const filtered = new FilteredCalls(log);
  const found = (filter: object) =>
    filtered.numbers({ ...EVERYTHING, ...filter }).map((n) => log.at(n)?.trace_id);
  log.add(call("a", { action: "write" }));
  log.add(call("b", { code: "TIMEOUT", process: "p2" }));
  expect(found({ text: "fs.write CLIENT" })).toEqual(["a"]);
  expect(found({ status: "running" })).toEqual(["a"]);
  expect(found({ status: "failed" })).toEqual(["b"]);
  log.add(call("a", { action: "write", code: "CONFLICT" }));
  expect(found({ status: "failed" })).toEqual(["a", "b"]);
  expect(found({ status: "running" })).toEqual([]);
  log.add(call("c", { process: "p2", code: "OK" }));
  expect(found({ process: "p2" })).toEqual(["b", "c"]);
});

test("a paused view shows nothing that came after the pause", () => {
  const log = new CallLog();
  const filtered = new FilteredCalls(log);
  log.add(call("a"));
  const until = log.end;
  log.add(call("b"));
  expect(filtered.numbers(EVERYTHING, until)).toEqual([0]);
  expect(filtered.numbers(EVERYTHING)).toEqual([0, 1]);
});

test("calls of before the page was opened come first, each once, and take their place in a filtered list", () => {
  const log = new CallLog();
  const filtered = new FilteredCalls(log);
  log.add(call("c"));
  expect(filtered.numbers(EVERYTHING)).toHaveLength(1);
  log.prepend([call("a", { code: "OK" }), call("b"), call("c")]);
  const traces = () => filtered.numbers(EVERYTHING).map((number) => log.at(number)?.trace_id);
  expect(traces()).toEqual(["a", "b", "c"]);
  expect(log.seen).toBe(3);
  log.add(call("b", { code: "NOT_FOUND" }));
  log.add(call("d"));
  expect(traces()).toEqual(["a", "b", "c", "d"]);
  const failed = filtered.numbers({ ...EVERYTHING, status: "failed" });
  expect(failed.map((number) => log.at(number)?.trace_id)).toEqual(["b"]);
});

test("calls from before are in the order of time, though each process lists its own", () => {
  const log = new CallLog();
  const filtered = new FilteredCalls(log);
  const at = (trace_id: string, seconds: number) => call(trace_id, { started_at: seconds * 1_000 });
  log.add(at("5", 50));
  const ids = () => filtered.numbers(EVERYTHING).map((number) => log.at(number)?.trace_id);
  expect(ids()).toEqual(["5"]);
  log.prepend([at("2", 20), at("4", 40), at("1", 10), at("6", 60), at("3", 30)]);
  expect(ids()).toEqual(["1", "2", "3", "4", "5", "6"]);
  for (const id of ["5", "6"]) log.add({ ...at(id, Number(id) * 10), code: "OK" });
  expect(log.rows.map(({ code }) => code)).toEqual([...Array(4).fill(undefined), "OK", "OK"]);
});

test("calls of a process that is connected later are put where they belong, and a running one still ends", () => {
  const log = new CallLog();
  const filtered = new FilteredCalls(log);
  log.add(call("first", { started_at: 10_000, code: "OK" }));
  log.add(call("runs", { started_at: 60_000 }));
  expect(filtered.numbers(EVERYTHING)).toHaveLength(2);
  log.add(call("late", { process: "p2", started_at: 30_000 }));
  const ids = () => filtered.numbers(EVERYTHING).map((number) => log.at(number)?.trace_id);
  expect(ids()).toEqual(["first", "late", "runs"]);
  log.add(call("runs", { started_at: 60_000, code: "OK" }));
  log.add(call("late", { process: "p2", started_at: 30_000, code: "CONFLICT" }));
  expect(log.rows.map(({ trace_id, code }) => [trace_id, code])).toEqual([
    ["first", "OK"],
    ["late", "CONFLICT"],
    ["runs", "OK"],
  ]);
  expect(filtered.numbers({ ...EVERYTHING, status: "running" })).toEqual([]);
});

test("calls of one moment stay in the order in which they came", () => {
  const log = new CallLog();
  log.add(call("a", { started_at: 1_500 }));
  log.add(call("b", { started_at: 1_000 }));
  expect(log.rows.map(({ trace_id }) => trace_id)).toEqual(["a", "b"]);
  expect(log.moved).toBe(0);
});
