import fc from "fast-check";
import { expect, test } from "vitest";
import { toOneLine, toVisible } from "./visible.ts";

test.each([
  ["\x1b[31mred", "\\x1b[31mred"],
  ["over\rwritten", "over\\rwritten"],
  ["\u202egnp.exe", "\\u{202e}gnp.exe"],
  ["hid\u{e0041}den", "hid\\u{e0041}den"],
  ["lone \ud800", "lone \\u{d800}"],
  ["\x9b2J", "\\x9b2J"],
])("%j is shown as %j", (text, shown) => {
  expect(toVisible(text)).toBe(shown);
});

test.each(["two\nlines\twith a tab", "DOS\r\nlines", "日本語 é 👩‍👩‍👧"])("%j is left as it is", (text) => {
  expect(toVisible(text)).toBe(text);
});

test("for any input, the output has no control characters except new lines and tabs", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(toVisible(text)).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)/);
      expect(toOneLine(text)).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
    }),
  );
});
