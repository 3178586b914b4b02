import { expect, test } from "vitest";
import { toCodePieces } from "./code-pieces.ts";

const shown = (text: string) => toCodePieces(text).map((piece) => (piece.isCode ? [piece.text] : piece.text));

test.each([
  ["fs.write anywhere", ["fs.write anywhere"]],
  [
    "`npm test` with `--run`, `-u`, nothing else",
    [["npm test"], " with ", ["--run"], ", ", ["-u"], ", nothing else"],
  ],
  ["only uri `src/a b.ts` or `x`", ["only uri ", ["src/a b.ts"], " or ", ["x"]]],
  // Backticks of the command itself stay.
  ["`echo a`b`c`, nothing else", [["echo a`b`c"], ", nothing else"]],
  ["`echo a` b`, nothing else", ["`echo a` b`, nothing else"]],
  ["one ` alone", ["one ` alone"]],
])("%s", (text, expected) => expect(shown(text)).toEqual(expected));
