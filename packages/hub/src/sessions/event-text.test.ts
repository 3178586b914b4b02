import type { StampedEvent } from "@octant/agent";
import { expect, test } from "vitest";
import { describeEvent } from "./event-text.ts";

const STAMP = { seq: 4, session_id: "ses_1", at: "2026-11-18T10:00:00.000Z" };
const text = (words: string) => [{ type: "text", text: words }] as const;
/** The fields that the text does not use are left out. */
const event = (fields: object) => ({ ...STAMP, ...fields }) as StampedEvent;

test.each([
  [{ type: "user", origin: "person", content: text("fix it") }, "4 message: fix it"],
  [{ type: "message", message: { content: text("Done.") } }, "4 answer: Done."],
  [{ type: "message", message: { content: [] } }, ""],
  [{ type: "tool_began", title: "fs.read a.ts" }, "4 call fs.read a.ts"],
  [
    { type: "tool_ended", name: "fs", is_error: true, content: text("NOT_FOUND: a.ts") },
    "4 failed fs: NOT_FOUND: a.ts",
  ],
  [{ type: "end", reason: "max_turns", message: "raise it" }, "4 end: max_turns: raise it"],
  [
    { type: "mark", name: "caller_request", data: { request_id: "r1", input: { a: "x".repeat(900) } } },
    `4 caller_request: {"request_id":"r1","input":{"a":"${"x".repeat(900)}"}}`,
  ],
  [{ type: "title", title: "Fix" }, ""],
])("a model that follows a session reads %j as %j", (fields, line) => {
  expect(describeEvent(event(fields))).toBe(line);
});

test("a long result of a tool is cut, never in the middle of a character", () => {
  const line = describeEvent(event({ type: "tool_ended", name: "fs", content: text("😀".repeat(1_000)) }));
  expect(line.length).toBeLessThan(500);
  expect(line).toMatch(/^4 result fs: (😀)+… \(2000 characters\)$/u);
});
