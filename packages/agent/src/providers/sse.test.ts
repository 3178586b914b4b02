import { expect, test } from "vitest";
import { createSseFrameBuffer, type SseFrame } from "./sse.ts";

function readAll(chunks: Iterable<string>): readonly SseFrame[] {
  const buffer = createSseFrameBuffer();
  return [...[...chunks].flatMap((chunk) => buffer.feed(chunk)), ...buffer.end()];
}
const frame = (data: string, more: Partial<SseFrame> = {}) => ({
  event: null,
  id: null,
  retry: null,
  data,
  ...more,
});

const CASES: readonly (readonly [sentence: string, stream: string, frames: readonly SseFrame[]])[] = [
  ["an event ends with an empty line", "data: a\n\n", [frame("a")]],
  ["CRLF ends lines", "data: a\r\n\r\ndata: b\r\n\r\n", [frame("a"), frame("b")]],
  ["CR ends lines", "data: a\r\rdata: b\r\r", [frame("a"), frame("b")]],
  ["line ends may be mixed", "data: a\r\n\ndata: b\n\r\n", [frame("a"), frame("b")]],
  ["data of several lines is joined", "data: a\ndata: b\n\n", [frame("a\nb")]],
  ["only one space after the colon is dropped", "data:  a\n\n", [frame(" a")]],
  ["no space is needed", "data:a\n\n", [frame("a")]],
  ["empty data is data", "data:\n\n", [frame("")]],
  ["a field without a colon has an empty value", "data\ndata\n\n", [frame("\n")]],
  ["a comment is skipped", ": ping\ndata: a\n\n: ping\n\n", [frame("a")]],
  ["an event without data is dropped", "event: x\n\ndata: a\n\n", [frame("a")]],
  [
    "event, id and retry are kept",
    "event: x\nid: 7\nretry: 9\ndata: a\n\n",
    [frame("a", { event: "x", id: "7", retry: 9 })],
  ],
  ["a retry that is not a number is ignored", "retry: 1s\ndata: a\n\n", [frame("a")]],
  ["an id with a NUL is ignored", "id: a\0b\ndata: a\n\n", [frame("a")]],
  ["a byte order mark at the start is skipped", "\uFEFFdata: a\n\n", [frame("a")]],
  ["a byte order mark later is text", "data: a\n\n\uFEFFdata: b\n\n", [frame("a")]],
  ["unknown fields are skipped", "foo: bar\ndata: a\n\n", [frame("a")]],
  ["colons in the value stay", 'data: {"a": "b:c"}\n\n', [frame('{"a": "b:c"}')]],
  ["the last event may lack its empty line", "data: a\n\ndata: b", [frame("a"), frame("b")]],
  ["empty lines alone are nothing", "\n\n\r\n\r\r\n", []],
];

test.each(CASES)("%s, for any chunks", (_sentence, stream, frames) => {
  expect(readAll([stream])).toEqual(frames);
  expect(readAll(stream)).toEqual(frames);
  for (let at = 0; at <= stream.length; at++)
    expect(readAll([stream.slice(0, at), stream.slice(at)]), `cut at ${at}`).toEqual(frames);
});
