import fc from "fast-check";
import { expect, test } from "vitest";
import { toExact, toOneLine, toVisible, toVisibleJson } from "./visible.ts";

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

const INVISIBLE = [
  ["Hangul fillers", "\u3164\u115f\u1160\uffa0"],
  ["zero-width characters", "\u200b\u200c\u200d\u2060\ufeff"],
  ["a soft hyphen", "\u00ad"],
  ["variation selectors", "\ufe00\ufe0f\u{e0100}"],
  ["tags", "\u{e0041}\u{e007f}"],
  ["bidirectional marks", "\u061c\u200e\u202e\u2066"],
  ["fillers of other scripts", "\u034f\u17b4\u180e"],
  ["separators of lines", "\u2028\u2029"],
] as const;

test.each(INVISIBLE)("%s are shown between letters", (_name, text) => {
  for (const show of [toVisible, toOneLine, toExact])
    expect(show(`x${text}y`)).toBe(
      `x${[...text].map((char) => `\\${toCode(char.codePointAt(0) ?? 0)}`).join("")}y`,
    );
});

const toCode = (code: number) => (code < 0x100 ? `x${code.toString(16)}` : `u{${code.toString(16)}}`);

test.each(["👩‍👩‍👧 ❤️‍🔥 👩🏽‍🚀 🏳️‍⚧️ 1️⃣ ☺️ ✔︎", "日本語 é"])("%j is exact as it is", (text) => {
  expect(toExact(text)).toBe(text);
});

test("joiners that a script needs stay in text, and are shown in what a person approves", () => {
  for (const word of ["می\u200cخواهم", "क्\u200dष"]) {
    expect(toVisible(word)).toBe(word);
    expect(toExact(word)).toMatch(/\\u\{200[cd]\}/);
  }
});

test("no other blank passes for a space in what a person approves", () => {
  expect(toExact("rm\u00a0-rf\u3000x\u2003y\u2800z")).toBe("rm\\xa0-rf\\u{3000}x\\u{2003}y\\u{2800}z");
});

test("JSON for a terminal has the same meaning and no characters that are obeyed or hidden", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const shown = toVisibleJson(JSON.stringify({ text }, null, 2));
      expect(JSON.parse(shown)).toEqual({ text });
      expect(toVisible(shown)).toBe(shown);
    }),
  );
});

test("every character that Unicode calls a control, a format or ignorable is shown", () => {
  const unseen = /^[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]$/u;
  const left: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    const char = String.fromCodePoint(code);
    if (unseen.test(char) && (toExact(`a${char}b`) === `a${char}b` || unseen.test(toOneLine(char))))
      left.push(code.toString(16));
  }
  expect(left).toEqual([]);
});
