import { expect, test } from "vitest";
import { toTestTree } from "./test-tree.ts";

test("lines of a log become suites and tests, those with failures first", () => {
  const [sub, add] = toTestTree(
    ["pass add > adds (3 ms)", "skip add > later", "pass sub > a", "fail sub > b (1 ms)", "noise"],
    [{ name: "b", suite: ["sub"], message: "expected 1" }],
  );
  expect(add).toMatchObject({ name: "add", counts: { pass: 1, fail: 0, skip: 1 } });
  expect(add?.children.map(({ name, outcome, duration }) => [name, outcome, duration])).toEqual([
    ["adds", "pass", "3 ms"],
    ["later", "skip", undefined],
  ]);
  expect(sub).toMatchObject({ name: "sub", counts: { pass: 1, fail: 1, skip: 0 } });
  expect(sub?.children[0]).toMatchObject({ name: "b", failure: { message: "expected 1" } });
});

test("failures alone are enough", () => {
  expect(toTestTree([], [{ name: "x", message: "m" }])).toMatchObject([
    { name: "x", outcome: "fail", counts: { fail: 1 } },
  ]);
});
