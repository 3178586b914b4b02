import fc from "fast-check";
import { expect, test } from "vitest";
import { toPieces, toVisible } from "./visible.ts";

test.each([
  ["plain text", "plain text"],
  ["rm -rf \u202egpj.txt", "rm -rf ⟨RLO⟩gpj.txt"],
  ["a\u200bb", "a⟨ZWSP⟩b"],
  ["\u001b[31mred", "⟨ESC⟩[31mred"],
  ["tag\u{e0041}", "tag⟨U+E0041⟩"],
  ["half \ud800 of a pair", "half ⟨U+D800⟩ of a pair"],
  ["👩‍💻 and ❤️ stay", "👩‍💻 and ❤️ stay"],
  ["a\u200db", "a⟨ZWJ⟩b"],
  [`z${"\u0301".repeat(20)}!`, `z${"\u0301".repeat(4)}⟨+16 marks⟩!`],
  ["first\r\nsecond\tthird", "first second third"],
])("%j is shown as %j", (text, shown) => {
  expect(toVisible(text)).toBe(shown);
});

test("ordinary text is never changed, and no hidden character is left in any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      for (const piece of toPieces(text))
        if ("text" in piece)
          expect(piece.text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\ufeff\u0000-\u0008\u001b]/);
    }),
  );
});
