import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineSplitter } from "./line-splitter.ts";

const MAX = 40;
const TOO_LONG = "<too long>";

function split(chunks: readonly Buffer[]): string[] {
  const seen: string[] = [];
  const feed = createLineSplitter(
    { onLine: (line) => seen.push(line), onTooLong: () => seen.push(TOO_LONG) },
    MAX,
  );
  for (const chunk of chunks) feed(chunk);
  return seen;
}
const bytewise = (bytes: Buffer) => Array.from(bytes, (byte) => Buffer.of(byte));

test("lines are whole with any line ending, and empty ones are skipped", () => {
  expect(split([Buffer.from("a\nb\r\n\r\n\n𝄞é\nrest")])).toEqual(["a", "b", "𝄞é"]);
});

test("whole, byte by byte and split at every offset agree", () => {
  const piece = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\n", "\r\n", "\r", "x".repeat(50)));
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const bytes = Buffer.from(pieces.join(""));
      const whole = split([bytes]);
      expect(split(bytewise(bytes))).toEqual(whole);
      for (let at = 0; at <= bytes.length; at++) {
        expect(split([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
      }
    }),
  );
});

test("a line of the limit passes, a longer one is reported once and skipped, and the next one is read", () => {
  const fits = "f".repeat(MAX);
  const bytes = Buffer.from(`${fits}\n${"x".repeat(MAX * 3)}\nnext\n`);
  for (const chunks of [[bytes], bytewise(bytes)]) expect(split(chunks)).toEqual([fits, TOO_LONG, "next"]);
});

test("empty lines and a last line without an ending count where they are asked for", () => {
  const lines: string[] = [];
  const feed = createLineSplitter({ onLine: (line) => lines.push(line), hasEmptyLines: true }, MAX);
  for (const chunk of bytewise(Buffer.from("a\r\nb\n\né"))) feed(chunk);
  feed.flush();
  feed.flush();
  expect(lines).toEqual(["a", "b", "", "é"]);
});
