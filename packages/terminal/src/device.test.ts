import { expect, test } from "vitest";
import { isUnmarkedPaste, toInput } from "./device.ts";

test.each([
  ["a", "a"],
  ["👍🏽", "👍🏽"],
  ["\r", "Enter"],
  ["\x1b", "Escape"],
  ["\x01", "Ctrl-A"],
  ["\x1b[A", "Up"],
  ["\x1b[1;5C", "Ctrl-Right"],
  ["\x1b[13;2u", "Shift-Enter"],
  ["\x1b[27;5;13~", "Ctrl-Enter"],
  ["\x1bb", "Alt-B"],
  ["\x1bF", "Alt-Shift-F"],
  ["\x1b:", "Alt-:"],
  ["\x1b\x7f", "Alt-Backspace"],
  ["\x1bOP", "F1"],
  ["\x1b[2~", "Insert"],
  ["\n", "Ctrl-J"],
  ["\x1b[1~", "Home"],
  ["\x1b[4~", "End"],
  ["\x1b[7~", "Home"],
  ["\x1b[8~", "End"],
])("%j is the key %s", (data, key) => {
  expect(toInput(data)).toEqual({ kind: "key", key });
});

test.each([
  ["one\rtwo\rthree\r", false, true],
  ["one\ntwo\nthree\nfour", false, true],
  // The end of a paste whose beginning came before.
  ["last line\r", true, true],
  ["\r", true, false],
  // Typed while the program was busy.
  ["first message\r/quit\r", false, false],
  ["\r\r\r\r", false, false],
  ["a\x1b[A\rb\rc\r\r", false, false],
])("%j is a paste without marks (%j before): %j", (text, goesOn, isPaste) => {
  expect(isUnmarkedPaste([...text], goesOn)).toBe(isPaste);
});

test("a bracketed paste is one text with the line breaks of Unix", () => {
  expect(toInput("\x1b[200~one\r\ntwo\rthree\x1b[201~")).toEqual({ kind: "paste", text: "one\ntwo\nthree" });
});
