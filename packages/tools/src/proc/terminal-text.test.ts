import fc from "fast-check";
import { expect, test } from "vitest";
import { createEscapeStripper, toPlainText } from "./terminal-text.ts";

test.each([
  ["colours", "\x1b[1;31mred\x1b[0m", "red"],
  ["colours in one character", "\u009b31mred", "red"],
  ["a title that ends with BEL", "\x1b]0;title\x07text", "text"],
  ["a link that ends with ESC \\", "\x1b]8;;http://x\x1b\\text", "text"],
  ["a character set", "\x1b(Btext", "text"],
  ["a bell and a NUL", "te\x07x\0t", "text"],
  ["characters that turn the direction", "a\u202eb\u2066c", "abc"],
])("%s are taken out", (_, text, plain) => {
  expect(toPlainText(text)).toBe(plain);
});

test("a line that is redrawn shows only its last state", () => {
  expect(toPlainText("10%\r50%\r100%\ndone\r\n")).toBe("100%\ndone\n");
  expect(toPlainText("|\b/\b-\bok")).toBe("ok");
});

test("plain text is unchanged", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "é", "😀", "\n", "\t", " ") }), (text) => {
      expect(toPlainText(text)).toBe(text);
    }),
  );
});

const hostile = fc.string({
  unit: fc.constantFrom(
    "\x1b",
    "[",
    "]",
    "P",
    "\\",
    "\x07",
    "\u009b",
    "\u009c",
    "3",
    ";",
    "m",
    "x",
    "\n",
    "(",
  ),
});

test("chunk boundaries do not matter", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const stripper = createEscapeStripper();
      const byOne = [...text].map((char) => stripper.push(char)).join("");
      expect(byOne).toBe(createEscapeStripper().push(text));
      expect(byOne).not.toMatch(/[\x1b\u009b]/);
    }),
  );
});

test("half a million unfinished sequences are processed quickly", () => {
  const started = process.threadCpuUsage();
  toPlainText("\x1b[1;".repeat(500_000));
  expect(process.threadCpuUsage(started).user).toBeLessThan(2_000_000);
});
