import { expect, test } from "vitest";
import { decodeChunk, encodeChunk } from "./packed-chunk.ts";

const chunk = {
  vector: { values: Int8Array.of(1, -2, 3), scale: 0.5 },
  weights: Uint16Array.of(7, 65_535),
};

test("a chunk is read back from plain bytes and from a Buffer within a pool", () => {
  const bytes = encodeChunk(chunk);
  expect(decodeChunk(bytes)).toEqual(chunk);
  expect(decodeChunk(Buffer.from(Buffer.from(bytes).toString("base64"), "base64"))).toEqual(chunk);
});
