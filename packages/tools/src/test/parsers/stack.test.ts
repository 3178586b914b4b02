import { expect, test } from "vitest";
import { placesIn } from "./stack.ts";

test.each([
  ["    at add (/p/a.js:3:5)", { file: "/p/a.js", line: 3, col: 5 }],
  ["    at async /p/a b.js:3:5", { file: "/p/a b.js", line: 3, col: 5 }],
  ["    at Object.<anonymous> (file:///p/%C3%A4.mjs:10:1)", { file: "/p/ä.mjs", line: 10, col: 1 }],
  ["\tat com.x.SumsTest.adds(SumsTest.java:14)", { file: "SumsTest.java", line: 14 }],
  ["\t/p/boom_test.go:6 +0x1d", { file: "/p/boom_test.go", line: 6 }],
  ["tests/test_a.py:9: AssertionError", { file: "tests/test_a.py", line: 9 }],
  ["broken/a_test.go:6:1: expected '}', found 'EOF'", { file: "broken/a_test.go", line: 6, col: 1 }],
  [" --> tests/broken.rs:2:19", { file: "tests/broken.rs", line: 2, col: 19 }],
  ['  File "/p/test_a.py", line 3, in test_a', { file: "/p/test_a.py", line: 3 }],
  ["src/lib.rs:12:9", { file: "src/lib.rs", line: 12, col: 9 }],
])("%s", (frame, place) => {
  expect(placesIn(frame)).toEqual([place]);
});

test.each(["Error: no", "    at node:internal/test:3:5", "", "at (<anonymous>)"])(
  "%j names no place",
  (frame) => {
    expect(placesIn(frame)).toEqual([]);
  },
);

test("the innermost frame of Python is its last", () => {
  const trace =
    'Traceback:\n  File "/p/a.py", line 1, in <module>\n  File "/p/b.py", line 2\nSyntaxError: no';
  expect(placesIn(trace)).toEqual([
    { file: "/p/b.py", line: 2 },
    { file: "/p/a.py", line: 1 },
  ]);
});

test("an overlong line is skipped", () => {
  expect(placesIn(`${"x:".repeat(4_000)}1`)).toEqual([]);
});
