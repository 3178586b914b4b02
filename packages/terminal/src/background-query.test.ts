import { expect, test } from "vitest";
import { BackgroundReply } from "./background-query.ts";
import type { Background } from "./paint.ts";

function feed(pieces: readonly string[], isAwaited = true) {
  const answers: Background[] = [];
  const reply = new BackgroundReply((answer) => answers.push(answer));
  reply.isAwaited = isAwaited;
  const left = pieces.flatMap((piece) => reply.feed(piece));
  return { answers, left: [...left, ...reply.release()].join("") };
}

const WHITE = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\";

test("the answer is removed whole, with either terminator, and the keys around it stay", () => {
  expect(feed(["a", WHITE, "b"])).toEqual({ answers: ["light"], left: "ab" });
  expect(feed(["\x1b]11;rgb:10/20/30\x07"])).toEqual({ answers: ["dark"], left: "" });
  expect(feed(["\x1b]11;rgba:f/f/e/f\x07", "x"], false)).toEqual({ answers: ["light"], left: "x" });
});

test("split anywhere, even into single characters, no part of the answer is taken for typing", () => {
  for (let at = 1; at < WHITE.length; at++)
    expect(feed(["k", WHITE.slice(0, at), WHITE.slice(at), "k"])).toEqual({ answers: ["light"], left: "kk" });
  expect(feed([...WHITE, "k"])).toEqual({ answers: ["light"], left: "k" });
});

test("an incomplete or different answer is dropped; the Escape key is not", () => {
  expect(feed(["\x1b]11;rgb:ffff/ff", "k"])).toEqual({ answers: [], left: "k" });
  expect(feed(["\x1b]52;c;aGk=\x07", "k"])).toEqual({ answers: [], left: "k" });
  expect(feed(["\x1b"])).toEqual({ answers: [], left: "\x1b" });
  expect(feed(["\x1b", "x"])).toEqual({ answers: [], left: "\x1bx" });
});
