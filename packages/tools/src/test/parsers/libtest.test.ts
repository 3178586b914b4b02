import { expect, test } from "vitest";
import { feedText, summaryOf } from "../../../testing/test/feed.ts";
import { CARGO } from "../../../testing/test/samples.ts";
import { createLibtestParser } from "./libtest.ts";

const parse = (text: string) => feedText(createLibtestParser, text);

test("outcomes, location, message and both sides of assert_eq are parsed", () => {
  const fed = parse(CARGO);
  expect(summaryOf(fed)).toEqual(["pass sums > adds", "skip sums > later", "fail sums > adds_wrongly"]);
  expect(fed.tests[2]?.problem).toMatchObject({
    message: "assertion `left == right` failed: wrong\n  left: 2\n right: 3",
    actual: "2",
    expected: "3",
    at: { file: "tests/sums.rs", line: 11, col: 9 },
  });
});

test("the format before Rust 1.73 is parsed", () => {
  const { tests } = parse(
    [
      "running 1 test",
      "test tests::old ... FAILED",
      "failures:",
      "---- tests::old stdout ----",
      "thread 'tests::old' panicked at 'assertion failed: `(left == right)`",
      "  left: `2`,",
      " right: `3`', src/lib.rs:12:9",
      "failures:",
      "    tests::old",
      "test result: FAILED. 0 passed; 1 failed",
    ].join("\n"),
  );
  expect(tests[0]?.problem).toMatchObject({
    actual: "2",
    expected: "3",
    at: { file: "src/lib.rs", line: 12, col: 9 },
  });
});

test("a program that aborts is not complete, and earlier failures are still reported", () => {
  const fed = parse("running 2 tests\ntest a ... FAILED\n");
  expect(summaryOf(fed)).toEqual(["fail a"]);
  expect(fed.complete).toBe(false);
});

test("doc tests and should_panic tests are tests", () => {
  const fed = parse(
    "running 2 tests\ntest src/lib.rs - add (line 3) ... ok\ntest bad - should panic ... ok\ntest result: ok. 2 passed\n",
  );
  expect(summaryOf(fed)).toEqual(["pass src/lib.rs - add (line 3)", "pass bad"]);
});
