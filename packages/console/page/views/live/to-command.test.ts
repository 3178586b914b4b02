import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toCommand } from "./to-command.ts";

test.each([
  [{ uri: "README.md" }, "octant call fs.read uri=README.md"],
  [{}, "octant call fs.read"],
  [{ uri: "a b.md", limit: 5, all: true }, "octant call fs.read 'uri=a b.md' limit=5 all=true"],
  [{ uri: "it's" }, "octant call fs.read 'uri=it'\\''s'"],
  [{ uri: "@home" }, "octant call fs.read uri=@@home"],
  [{ uri: "12" }, `octant call fs.read '{"uri":"12"}'`],
  [{ uri: ["a", "b"] }, `octant call fs.read '{"uri":["a","b"]}'`],
])("%j is written as %s", (input, command) => {
  expect(toCommand("fs", "read", input)).toBe(command);
});

test("a shell reads the same words back, whatever the values are", () => {
  const values = fc.array(
    fc
      .string({ unit: "grapheme", maxLength: 12 })
      .filter((text) => !text.includes("\0") && text.isWellFormed()),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(values, (texts) => {
      const input = { list: texts, text: texts[0] };
      const command = toCommand("fs", "read", input);
      const words = execFileSync(
        "sh",
        ["-c", `for word in ${command.slice("octant call ".length)}; do printf '%s\\0' "$word"; done`],
        { encoding: "utf8" },
      ).split("\0");
      expect(words.slice(0, -1)).toEqual(["fs.read", JSON.stringify(input)]);
    }),
    { numRuns: 30 },
  );
});
