import { PassThrough } from "node:stream";
import { type LineReader, openLineReader, QUIET_MS } from "@octant/runtime";
import { afterEach, expect, test } from "vitest";
import { createManualClock } from "../packages/terminal/src/testing/clock.ts";

let opened: LineReader | undefined;
afterEach(() => opened?.[Symbol.dispose]());

/** A person at a terminal, whose keys arrive one by one. */
function open() {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  const output = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY: true, columns: 80 });
  let shown = "";
  output.on("data", (text) => {
    shown += text;
  });
  const clock = createManualClock();
  const lines = openLineReader({ input, output }, clock);
  /** With less than the quiet time between the keys. */
  const type = async (text: string) => {
    for (const key of text) {
      input.write(key);
      await clock.pass(QUIET_MS - 1);
    }
  };
  opened = lines;
  return { lines, input, clock, type, shown: () => shown };
}

const isOpen = (answer: Promise<unknown>) => Promise.race([answer.then(() => false), delay()]);
const delay = () => new Promise<true>((resolve) => setImmediate(() => resolve(true)));

test("what is typed while a question appears is not its answer, however long it goes on", async () => {
  const { lines, clock, type, shown } = open();
  await type("yes");
  const answer = lines.ask("Allow it? ");
  await type("y\ry\ryes\r");
  expect(await isOpen(answer)).toBe(true);
  expect(shown()).not.toContain("Allow it?");
  await clock.pass(1);
  expect(shown()).toContain("Allow it?");
  await type("n\r");
  expect(await answer).toBe("n");
});

test("a paste answers no question, except a hidden one such as for a key", async () => {
  const { lines, input, clock, type } = open();
  const answer = lines.ask("Allow it? ");
  await clock.pass(QUIET_MS);
  input.write("\x1b[200~y\ry\r\x1b[201~");
  await clock.pass(0);
  expect(await isOpen(answer)).toBe(true);
  await type("n\r");
  expect(await answer).toBe("n");
  const secret = lines.ask("API key: ", { hidden: true });
  await clock.pass(QUIET_MS);
  input.write("sk-123\r");
  expect(await secret).toBe("sk-123");
});

test("Ctrl-C leaves before the keyboard is quiet", async () => {
  const { lines, input } = open();
  const answer = lines.ask("Allow it? ");
  input.write("\x03");
  expect(await answer).toBeUndefined();
});

test("a question cannot control the terminal", async () => {
  const { lines, clock, type, shown } = open();
  lines.say("\x1b]0;title\x07said");
  const answer = lines.ask("\x1b[2JAllow \u202eit? ");
  await clock.pass(QUIET_MS);
  await type("n\r");
  await answer;
  expect(shown()).not.toMatch(/\x1b\]|\x1b\[2J|\u202e|\x07/);
});
