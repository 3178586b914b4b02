import fc from "fast-check";
import { expect, test } from "vitest";
import {
  createLineSplitter,
  MAX_LINE_BYTES,
  MAX_SHORTENED_BYTES,
  MAX_STRING_BYTES,
} from "./ripgrep-lines.ts";

const split = (bytes: Buffer, size: number): string[] => {
  const feed = createLineSplitter();
  const lines: string[] = [];
  for (let from = 0; from < bytes.length; from += size)
    lines.push(...feed(bytes.subarray(from, from + size)).map(String));
  return lines;
};

const message = (text: string, submatches: readonly string[] = ["x"]) =>
  JSON.stringify({
    type: "match",
    data: {
      path: { text: "./a" },
      lines: { text },
      line_number: 7,
      absolute_offset: 9,
      submatches: submatches.map((match, i) => ({ match: { text: match }, start: i, end: i + 1 })),
    },
  });

test("lines come out the same however the bytes are cut", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" }).map((text) => message(text))), (lines) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      expect(split(bytes, bytes.length || 1)).toEqual(lines);
      expect(split(bytes, 1)).toEqual(lines);
      for (let at = 1; at < Math.min(bytes.length, 40); at++) {
        const feed = createLineSplitter();
        const both = [...feed(bytes.subarray(0, at)), ...feed(bytes.subarray(at))];
        expect(both.map(String)).toEqual(lines);
      }
    }),
    { numRuns: 50 },
  );
});

test.each([
  ["plain", "abc "],
  ["two bytes each", "é"],
  ["four bytes each, one off", "😀"],
  ["escapes", '"\\\u0001\n'],
  ["backslashes only", "\\"],
])("a huge line (%s) comes out short, valid, and the same for all cuts", (_name, unit) => {
  const text = `x${unit.repeat(400_000 / Buffer.byteLength(unit))}`;
  const bytes = Buffer.from(`${message(text, [text, "x"])}\n${message("small")}\n`);
  const [long, small, ...none] = split(bytes, bytes.length) as [string, string];
  expect(none).toEqual([]);
  expect(small).toBe(message("small"));
  expect(long.length).toBeLessThan(MAX_LINE_BYTES);
  const { data } = JSON.parse(long);
  expect(text.startsWith(data.lines.text)).toBe(true);
  expect(Buffer.byteLength(JSON.stringify(data.lines.text))).toBeGreaterThan(MAX_STRING_BYTES);
  expect(data).toMatchObject({ line_number: 7, absolute_offset: 9, path: { text: "./a" } });
  expect(data.submatches[1]).toEqual({ match: { text: "x" }, start: 1, end: 2 });
  for (const size of [1, 65_536]) expect(split(bytes, size)).toEqual([long, small]);
});

test("a line with too many submatches keeps the first ones", () => {
  const line = message("text", Array(100_000).fill("},{"));
  const [short] = split(Buffer.from(`${line}\n`), 65_536) as [string];
  expect(short.length).toBeLessThan(MAX_SHORTENED_BYTES * 1.1);
  const { submatches } = JSON.parse(short).data;
  expect(submatches.length).toBeGreaterThan(10_000);
  expect(submatches.at(-1)).toEqual({
    match: { text: "},{" },
    start: submatches.length - 1,
    end: submatches.length,
  });
});
