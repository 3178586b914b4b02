import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineSplitter } from "./following.ts";

function split(chunks: readonly Uint8Array[]): string[] {
  const lines: string[] = [];
  const splitter = createLineSplitter((line) => lines.push(line));
  for (const chunk of chunks) splitter.push(chunk);
  splitter.flush();
  return lines;
}

test("lines are the same for any chunks", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.nat()), (text, cuts) => {
      const bytes = Buffer.from(text.replaceAll("x", "\r\n").replaceAll("y", "\n"));
      const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
      const chunks = places.slice(1).map((end, i) => bytes.subarray(places[i], end));
      expect(split(chunks)).toEqual(split([bytes]));
    }),
  );
});

test("a last line without an end counts, and an endless one is cut", () => {
  expect(split([Buffer.from("a\r\nb\n\nc")])).toEqual(["a", "b", "", "c"]);
  const [line] = split(Array.from({ length: 40 }, () => Buffer.alloc(65_536, "x")));
  expect(line).toHaveLength(1_048_576);
});
