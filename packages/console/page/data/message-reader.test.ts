import { expect, test } from "vitest";
import { createMessageReader } from "./message-reader.ts";

const TEXT =
  ': keepalive\n\nid: 7\ndata: {"events":[],"lost":0}\n\ndata: a\n\n: keepalive\n\nid: 8\ndata: ü\n\nid: 9\nda';
const MESSAGES = [
  ['{"events":[],"lost":0}', "7"],
  ["a", ""],
  ["ü", "8"],
];

function readAll(pieces: readonly string[]): readonly (readonly string[])[] {
  const read = createMessageReader();
  return pieces.flatMap((piece) => read(piece).map(({ data, id }) => [data, id]));
}

test("a stream gives the same messages whole, by character, and split at every place", () => {
  expect(readAll([TEXT])).toEqual(MESSAGES);
  expect(readAll([...TEXT])).toEqual(MESSAGES);
  for (let at = 0; at <= TEXT.length; at++)
    expect(readAll([TEXT.slice(0, at), TEXT.slice(at)]), String(at)).toEqual(MESSAGES);
});
