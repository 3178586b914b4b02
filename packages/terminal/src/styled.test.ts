import stringWidth from "string-width";
import { expect, test } from "vitest";
import { isNarrow } from "./styled.ts";

test("every sign that is taken for one column wide is that, also beside others", () => {
  const signs = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code)).filter(isNarrow);
  expect(signs.length).toBeGreaterThan(1_000);
  expect(signs.filter((sign) => stringWidth(sign) !== 1)).toEqual([]);
  // No pair joins to one, or to a wider one.
  const joining = signs.filter((sign) => stringWidth(`a${sign}${sign}b`) !== 4);
  expect(joining).toEqual([]);
});
