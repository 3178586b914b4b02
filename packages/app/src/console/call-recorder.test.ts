import type { ObservedCall } from "@octant/core";
import { expect, test } from "vitest";
import { createCallRecorder, estimateBytes } from "./call-recorder.ts";

const callOf = (trace_id: string, data: unknown): ObservedCall => ({
  trace_id,
  tool: "fs",
  action: "read",
  caller: "me",
  input: { uri: "a" },
  started_at: 0,
  reply: {
    envelope: {
      ok: true,
      data,
      error: null,
      meta: { tool: "fs", action: "read", trace_id, paging: { cursor: null, more: false } },
    },
    attachments: [],
  },
});

/** A call that a watcher lists, as it ends. */
function record(calls: ReturnType<typeof createCallRecorder>, call: ObservedCall): void {
  calls.keep(call.trace_id);
  calls.observer()?.ended(call);
}

test("a call that nobody lists is not recorded", () => {
  const calls = createCallRecorder((text) => text);
  calls.watch();
  record(calls, callOf("listed", "x"));
  calls.observer()?.started({ trace_id: "unlisted", input: { uri: "a" } });
  calls.observer()?.ended(callOf("unlisted", "x"));
  expect(calls.get("listed")).toBeDefined();
  expect(calls.get("unlisted")).toBeUndefined();
  expect(calls.subject("unlisted")).toBe("");
});

test("nothing is recorded while nobody looks, and nothing stays when the last one leaves", () => {
  const calls = createCallRecorder((text) => text);
  expect(calls.observer()).toBeUndefined();
  const leave = calls.watch();
  const leaveToo = calls.watch();
  record(calls, callOf("one", "x"));
  leave();
  expect(calls.get("one")).toBeDefined();
  leaveToo();
  expect(calls.get("one")).toBeUndefined();
  expect(calls.observer()).toBeUndefined();
});

test("large answers push out the oldest ones", () => {
  const calls = createCallRecorder((text) => text);
  calls.watch();
  for (let n = 0; n < 100; n += 1) record(calls, callOf(`call-${n}`, { text: "x".repeat(1024 * 1024) }));
  const kept = Array.from({ length: 100 }, (_, n) => calls.get(`call-${n}`)).filter(Boolean);
  expect(kept.length).toBeLessThanOrEqual(32);
  expect(calls.get("call-99")).toBeDefined();
});

test.each([
  ["text", { text: "x".repeat(1_000) }],
  ["rows", { rows: Array.from({ length: 500 }, (_, n) => ({ n, name: `file-${n}.ts`, size: 12 })) }],
  ["nothing", {}],
])("the estimate for %s is near the length of its JSON", (_name, value) => {
  const exact = JSON.stringify(value).length;
  expect(estimateBytes(value)).toBeGreaterThan(exact * 0.5);
  expect(estimateBytes(value)).toBeLessThan(exact * 2 + 16);
});

test("a call that runs or has ended has a subject, on one line and without secrets", () => {
  const calls = createCallRecorder((text) => text.replaceAll("hunter2", "[redacted]"));
  const leave = calls.watch();
  calls.observer()?.started({ trace_id: "runs", input: { command: "echo hunter2\nsleep 9" } });
  expect(calls.subject("runs")).toBe("echo [redacted] sleep 9");
  record(calls, callOf("ended", "x"));
  expect(calls.subject("ended")).toBe("a");
  expect(calls.subject("unknown")).toBe("");
  leave();
  expect(calls.subject("runs")).toBe("");
});
