import { expect, test } from "vitest";
import { requireInstalled } from "./optional-package.ts";

test("a package that is not installed is refused with instructions to install it", () => {
  expect(() => requireInstalled("@octant/nowhere", "the store")).toThrow(
    expect.objectContaining({
      code: "UNSUPPORTED",
      details: { what: "the store", how: "npm install @octant/nowhere" },
    }),
  );
  expect(() => requireInstalled("zod", "the store")).not.toThrow();
});
