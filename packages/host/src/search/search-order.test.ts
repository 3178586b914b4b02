import fc from "fast-check";
import { expect, test } from "vitest";
import { comparePaths, fromNative } from "../path.ts";
import { sortByPath } from "./search-order.ts";

const name = fc.oneof(
  fc.constantFrom("a", "a-b", "a.b", "A", "é", "😀", "\uffee"),
  fc
    .uint8Array({ min: 1, minLength: 1, maxLength: 3 })
    .map((bytes) => fromNative(bytes.map((byte) => (byte === 0x2f ? 0x30 : byte)))),
);
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join("/")}`);

test("files are sorted as comparePaths sorts them, whatever their names", () => {
  fc.assert(
    fc.property(fc.uniqueArray(path), (paths) => {
      const sorted = sortByPath(paths.map((one) => ({ path: one }))).map((file) => file.path);
      expect(sorted).toEqual([...paths].sort(comparePaths));
    }),
  );
});
