import { expect, test } from "vitest";
import { parseScript, withoutFiles } from "./script.ts";

test.each([
  ["mocha", {}, ["mocha"]],
  [
    "  NODE_ENV=test  A='b c' mocha --ui 'b d' \"test/**/*.js\" ",
    { NODE_ENV: "test", A: "b c" },
    ["mocha", "--ui", "b d", "test/**/*.js"],
  ],
  ["node --test a/*.js", {}, ["node", "--test", "a/*.js"]],
])("%j is one command", (text, env, words) => {
  expect(parseScript(text)).toEqual({ env, words, text });
});

test.each([
  "",
  "A=1",
  "tsc && mocha",
  "mocha | tee log",
  "mocha $ARGS",
  "mocha `x`",
  'mocha "$X"',
  "mocha 'a",
  "(mocha)",
  "mocha > log",
])("%j is not", (text) => expect(parseScript(text)).toBeUndefined());

test("a script's own files are dropped, and the values of its options stay", () => {
  const args =
    "--require test/env --reporter spec --check-leaks test/ --file=test/a.js --no-exit test/acceptance/ run";
  expect(withoutFiles(args.split(" "), (word) => word.startsWith("test"))).toEqual(
    "--require test/env --reporter spec --check-leaks --file=test/a.js --no-exit run".split(" "),
  );
});
