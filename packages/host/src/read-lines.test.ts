import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { readLines } from "./read-lines.ts";

const TEXT = `${JSON.stringify({ a: "one\u2028two\u2029é😀" })}\n\n${JSON.stringify({ b: 2 })}`;

/** The lines of the text, written in these parts. */
async function linesOf(parts: readonly Uint8Array[]): Promise<string[]> {
  const input = new PassThrough();
  const lines: string[] = [];
  const ended = new Promise<void>((resolve) => readLines(input, (line) => lines.push(line), resolve));
  for (const part of parts) input.write(part);
  input.end();
  await ended;
  return lines;
}

test("lines end at line feeds alone, wherever the stream is cut", async () => {
  const bytes = Buffer.from(TEXT);
  const expected = TEXT.split("\n");
  expect(await linesOf([bytes])).toEqual(expected);
  expect(await linesOf([...bytes].map((byte) => Buffer.of(byte)))).toEqual(expected);
  for (let at = 1; at < bytes.length; at++)
    expect(await linesOf([bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(expected);
});
