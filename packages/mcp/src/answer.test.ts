import type { Reply, Shorten, ToText } from "@octant/core";
import { expect, test } from "vitest";
import { MAX_TEXT_BYTES, toResultsFor } from "./answer.ts";

const meta = { tool: "fs", action: "read", trace_id: "t", paging: { cursor: null, more: false } };
const replyWith = (data: unknown, attachments: Reply["attachments"] = []): Reply => ({
  envelope: { ok: true, data, error: null, meta },
  attachments,
});
const toText: ToText = ({ data }) => `for a model: ${(data as { text?: string } | null)?.text ?? data}`;
const shorten: Shorten = (envelope) => ({ ...envelope, meta: { ...meta, base: "file:///work/" } });
/** For a client that is not known. */
const toStructuredResult = toResultsFor(undefined, toText, shorten).structured;
const textIn = ({ content: [block] }: ReturnType<typeof toStructuredResult>) =>
  block?.type === "text" ? block.text : "";
const textOf = (reply: Reply) => textIn(toStructuredResult(reply));

test("a client that is not known gets the text for a model beside the structured content", () => {
  const reply = replyWith({ text: 'a "quoted"\nline \u2028 𝄞' });
  expect(toStructuredResult(reply)).toEqual({
    content: [{ type: "text", text: 'for a model: a "quoted"\nline \u2028 𝄞' }],
    structuredContent: reply.envelope,
    isError: false,
  });
  expect(textOf({ ...reply, text: "written elsewhere" })).toBe("written elsewhere");
});

test("where structured answers were chosen, the text is one line and the envelope shortened", () => {
  const { structured } = toResultsFor("structured", toText, shorten);
  const error = { code: "NOT_FOUND", message: "no such file", details: {} } as const;
  const reply = replyWith({ text: "long" });
  expect(textIn(structured(reply))).toBe("ok; the answer is in structuredContent");
  expect(structured(reply).structuredContent).toEqual(shorten(reply.envelope));
  const failed = structured({ envelope: { ok: false, data: null, error, meta }, attachments: [] });
  expect(failed).toMatchObject({ isError: true, structuredContent: { error } });
  expect(textIn(failed)).toBe("NOT_FOUND: no such file");
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
    expect(toText(reply.envelope).startsWith(head)).toBe(true);
    expect(toStructuredResult(reply).structuredContent).toEqual(reply.envelope);
  }
});

test("an answer of exactly the limit is not cut", () => {
  const padding = MAX_TEXT_BYTES - Buffer.byteLength(toText(replyWith("").envelope));
  expect(textOf(replyWith("x".repeat(padding)))).not.toContain("[cut here");
  expect(textOf(replyWith("x".repeat(padding + 1)))).toContain("[cut here");
});
