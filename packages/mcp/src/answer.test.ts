import type { Reply } from "@octant/core";
import { expect, test } from "vitest";
import { MAX_TEXT_BYTES, toStructuredResult } from "./answer.ts";

const meta = { tool: "fs", action: "read", trace_id: "t", paging: { cursor: null, more: false } };
const replyWith = (data: unknown, attachments: Reply["attachments"] = []): Reply => ({
  envelope: { ok: true, data, error: null, meta },
  attachments,
});
const textOf = (reply: Reply) => {
  const [block] = toStructuredResult(reply).content;
  return block?.type === "text" ? block.text : "";
};

test("the text block is the envelope's JSON, unchanged", () => {
  const reply = replyWith({ text: 'a "quoted"\nline \u2028 𝄞 \ud800' });
  expect(textOf(reply)).toBe(JSON.stringify(reply.envelope));
});

test("a failure is an error result that still carries its envelope", () => {
  const error = { code: "CANCELLED", message: "no", details: {} } as const;
  const result = toStructuredResult({ envelope: { ok: false, data: null, error, meta }, attachments: [] });
  expect(result).toMatchObject({ isError: true, structuredContent: { error } });
});

test("a picture comes as image content with its own bytes only", () => {
  const whole = new Uint8Array([9, 1, 2, 9]);
  const reply = replyWith(null, [{ kind: "image", mime: "image/png", bytes: whole.subarray(1, 3) }]);
  expect(toStructuredResult(reply).content[1]).toEqual({
    type: "image",
    data: "AQI=",
    mimeType: "image/png",
  });
});

test("an answer above the limit has its head as text and the whole as structured content", () => {
  for (const filler of ["x", "é", "𝄞", "漢"]) {
    const reply = replyWith({ text: filler.repeat(MAX_TEXT_BYTES + 1), hash: "sha256:0" });
    const text = textOf(reply);
    const head = text.slice(0, text.indexOf("\n[cut here"));
    expect(Buffer.byteLength(head)).toBeLessThanOrEqual(MAX_TEXT_BYTES);
    expect(Buffer.byteLength(head)).toBeGreaterThan(MAX_TEXT_BYTES - 4);
    expect(head.isWellFormed()).toBe(true);
    expect(JSON.stringify(reply.envelope).startsWith(head)).toBe(true);
    expect(toStructuredResult(reply).structuredContent).toEqual(reply.envelope);
  }
});

test("an answer of exactly the limit is not cut", () => {
  const padding = MAX_TEXT_BYTES - Buffer.byteLength(JSON.stringify(replyWith("").envelope));
  expect(textOf(replyWith("x".repeat(padding)))).not.toContain("[cut here");
  expect(textOf(replyWith("x".repeat(padding + 1)))).toContain("[cut here");
});
