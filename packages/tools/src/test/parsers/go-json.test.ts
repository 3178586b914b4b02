import { expect, test } from "vitest";
import { feedText, summaryOf } from "../../../testing/test/feed.ts";
import { GO } from "../../../testing/test/samples.ts";
import { createGoParser } from "./go-json.ts";

const parse = (text: string) => feedText(createGoParser("example.com/m"), text);
const event = (more: object) => `${JSON.stringify({ Package: "example.com/m", ...more })}\n`;

test("subtests are counted instead of their parent test", () => {
  expect(summaryOf(parse(GO))).toEqual([
    "pass example.com/m/sums > TestAdds",
    "fail example.com/m/sums > TestTable > one",
    "pass example.com/m/sums > TestTable > two",
    "skip example.com/m/sums > TestLater",
  ]);
});

test("a failure is located where t.Error was called, in the folder of its package", () => {
  const { problem } = parse(GO).tests[1] ?? {};
  expect(problem).toMatchObject({
    message: "sums_test.go:13: got 2, want 3",
    at: { file: "sums/sums_test.go", line: 13 },
  });
});

test("a parent test that failed by itself is reported", () => {
  const text = [
    event({ Action: "run", Test: "TestA" }),
    event({ Action: "run", Test: "TestA/b" }),
    event({ Action: "pass", Test: "TestA/b" }),
    event({ Action: "output", Test: "TestA", Output: "    a_test.go:3: after all\n" }),
    event({ Action: "fail", Test: "TestA" }),
  ].join("");
  expect(summaryOf(parse(text))).toEqual(["pass example.com/m > TestA > b", "fail example.com/m > TestA"]);
});

test("a panic is located in the test's own file", () => {
  const output = [
    "panic: boom",
    "",
    "goroutine 6 [running]:",
    "testing.tRunner.func1.2({0x4f, 0x53})",
    "\t/usr/lib/go/src/testing/testing.go:1396 +0x24e",
    "example.com/m.TestBoom(0x0?)",
    "\t/p/boom_test.go:6 +0x1d",
  ].join("\n");
  const { tests } = parse(
    event({ Action: "run", Test: "TestBoom" }) +
      event({ Action: "output", Test: "TestBoom", Output: output }) +
      event({ Action: "fail", Test: "TestBoom" }),
  );
  expect(tests[0]?.problem).toMatchObject({ at: { file: "/p/boom_test.go", line: 6 } });
  expect(tests[0]?.problem?.message).toMatch(/^panic: boom/);
});

test("a package that fails without a failed test is broken", () => {
  const built = parse("FAIL\texample.com/m/x [build failed]\n");
  expect(built).toMatchObject({ tests: [], broken: [{ name: "example.com/m/x" }], complete: true });
  const newer = parse(
    '{"ImportPath":"example.com/m [example.com/m.test]","Action":"build-output","Output":"./a_test.go:3:1: syntax error\\n"}\n' +
      event({ Action: "fail", Elapsed: 0 }),
  );
  expect(newer.broken).toMatchObject([
    { name: "example.com/m", problem: { message: "./a_test.go:3:1: syntax error" } },
  ]);
  const left = parse(event({ Action: "run", Test: "TestExit" }) + event({ Action: "fail" }));
  expect(left.broken).toMatchObject([{ problem: { message: "TestExit did not finish" } }]);
});
