import fc from "fast-check";
import { expect, test } from "vitest";
import { parseRoute, toHash } from "./route.ts";

test("an empty address is Now", () => {
  expect(parseRoute("")).toEqual({ view: "now", item: undefined, query: {} });
});

test("every place can be linked: its address leads back to it", () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }).filter((item) => item.isWellFormed()),
      fc.dictionary(
        fc.constantFrom("q", "process", "status"),
        fc.string({ minLength: 1 }).filter((v) => v.isWellFormed()),
      ),
      (item, query) => {
        expect(parseRoute(toHash("files", item, query))).toEqual({
          view: "files",
          item,
          query: { ...query },
        });
      },
    ),
  );
});

test("a damaged address does not break the page", () => {
  expect(parseRoute("#/live/%zz?q=%zz").item).toBe("%zz");
});
