import fc from "fast-check";
import { expect, test } from "vitest";
import { toMemberTest } from "./member-pattern.ts";

test.each<[string[], string, boolean]>([
  [["packages/*"], "packages/a", true],
  [["packages/*"], "packages/a/b", false],
  [["packages/*"], "packages", false],
  [["./packages/*/"], "packages/a", true],
  [["packages/**"], "packages/a/b/c", true],
  [["**/web"], "apps/site/web", true],
  [["a/**/b/**/c"], "a/x/b/y/z/c", true],
  [["a/**/b/**/c"], "a/x/b/y/z/d", false],
  [["lib-*-x"], "lib-one-two-x", true],
  [["lib-?"], "lib-10", false],
  [["{apps,libs/*}"], "libs/a", true],
  [["*/{a,b}{1,2}"], "x/b2", true],
  [["packages/*", "!packages/old"], "packages/old", false],
  [["!packages/old", "packages/*"], "packages/old", false],
  [["a.b"], "axb", false],
  [["{"], "{", true],
  [[], "a", false],
])("%j includes %s: %s", (patterns, path, expected) => {
  expect(toMemberTest(patterns)(path)).toBe(expected);
});

test("a pattern of many wildcards matches quickly", () => {
  const isMember = toMemberTest([`${"*a".repeat(400)}b`, `${"**/".repeat(300)}z`, "{a,b}".repeat(150)]);
  expect(isMember("a".repeat(255))).toBe(false);
  expect(isMember("a/".repeat(500))).toBe(false);
});

test("a path is a member by its own name, and by each folder replaced by a wildcard", () => {
  const name = fc.string({ unit: fc.constantFrom(..."abc-_.1"), minLength: 1 });
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 6 }), fc.nat(), (names, at) => {
      const path = names.filter((one) => one !== ".").join("/");
      fc.pre(path !== "" && !path.startsWith("./"));
      const starred = names
        .filter((one) => one !== ".")
        .map((one, place) => (place === at % names.length ? "*" : one));
      expect(toMemberTest([path])(path)).toBe(true);
      expect(toMemberTest([starred.join("/")])(path)).toBe(true);
      expect(toMemberTest(["**"])(path)).toBe(true);
    }),
  );
});
