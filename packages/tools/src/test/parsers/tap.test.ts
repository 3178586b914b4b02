import { expect, test } from "vitest";
import { feedText, summaryOf } from "../../../testing/test/feed.ts";
import { TAP } from "../../../testing/test/samples.ts";
import { createTapParser } from "./tap.ts";

const parse = (text: string) => feedText(createTapParser, text);

test("subtests are counted instead of their summary point", () => {
  const fed = parse(TAP);
  expect(summaryOf(fed)).toEqual(["pass sums > adds", "fail sums > adds wrongly", "skip later"]);
  expect(fed.tests[1]).toMatchObject({
    durationMs: 1.25,
    problem: {
      message: "Expected values to be strictly equal:\n2 !== 3",
      expected: "3",
      actual: "2",
      at: { file: "/p/a.test.js", line: 7, col: 3 },
    },
  });
});

test("a point that failed though its subtests passed is reported", () => {
  expect(summaryOf(parse("# Subtest: outer\n    ok 1 - inner\n    1..1\nnot ok 1 - outer\n1..1\n"))).toEqual([
    "pass outer > inner",
    "fail outer",
  ]);
});

test("todo and skip are not failures", () => {
  expect(summaryOf(parse("1..3\nnot ok 1 - a # TODO one day\nok 2 - b # skip\nok 3 - c # todo\n"))).toEqual([
    "skip a",
    "skip b",
    "pass c",
  ]);
});

test("bailing out is a breakage, and so is an unfulfilled plan", () => {
  expect(parse("1..2\nok 1 - a\nBail out! no disk\n")).toMatchObject({
    broken: [{ problem: { message: "no disk" } }],
    complete: false,
  });
});

test("output that is not TAP is neither complete nor truncated", () => {
  expect(parse("hello\nokay then\n")).toEqual({ tests: [], broken: [], complete: undefined });
});
