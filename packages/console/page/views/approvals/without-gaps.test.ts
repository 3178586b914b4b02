import { expect, test } from "vitest";
import { withoutGaps } from "./without-gaps.ts";

test("long runs of blanks are named, so that nothing hides behind them", () => {
  const hidden = `echo building${" ".repeat(3_000)}${"\n".repeat(121)}touch hidden`;
  expect(withoutGaps(hidden)).toBe("echo building ⟨3000 spaces⟩ \n⟨120 empty lines⟩\ntouch hidden");
});

test("ordinary commands stay as they are", () => {
  for (const text of ["npm test", "a\n\nb", "if x; then\n        y\nfi", ""])
    expect(withoutGaps(text)).toBe(text);
});
