import fc from "fast-check";
import { expect, test } from "vitest";
import { isDeeperThan, parseJsonPath, selectJson } from "./json-path.ts";

const DATA = JSON.parse(
  '{"items":[{"id":1,"a b":{"c.d":2}},{"id":3},{"x":4}],"0":"zero","ü":5,"__proto__":{"id":6},"null":null}',
);

const select = (path: string) => {
  const steps = parseJsonPath(path);
  if (!steps) return "invalid";
  const { found, value } = selectJson(DATA, steps);
  return found ? value : "missing";
};

test.each([
  ["", DATA],
  ["$", DATA],
  ["items[0].id", 1],
  ["$.items[0].id", 1],
  [".items[-1].x", 4],
  ["items.1.id", 3],
  ['items[0]["a b"]["c.d"]', 2],
  ["items[*].id", [1, 3]],
  ["items[*].nothing", []],
  ['["\\u00fc"]', 5],
  ["ü", 5],
  ["0", "zero"],
  ["[0]", "zero"],
  ["null", null],
  ["__proto__.id", 6],
  ["items[3]", "missing"],
  ["items[-4]", "missing"],
  ["items.length", "missing"],
  ["constructor", "missing"],
  ["items[0].id.toFixed", "missing"],
  ["items[", "invalid"],
  ["items[x]", "invalid"],
  ["items]", "invalid"],
  ["a..b", "invalid"],
  ["items[0]id", "invalid"],
  ['["open]', "invalid"],
  ["items[?(@.id)]", "invalid"],
  ["a b", "invalid"],
])("%s", (path, expected) => {
  expect(select(path)).toEqual(expected);
});

test("every value is found by its path", () => {
  const walk = (value: unknown, path: string): [string, unknown][] => [
    [path, value],
    ...(typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, inner]) =>
          walk(inner, `${path}[${Array.isArray(value) ? key : JSON.stringify(key)}]`),
        )
      : []),
  ];
  fc.assert(
    fc.property(fc.jsonValue(), (generated) => {
      const value = JSON.parse(JSON.stringify(generated));
      for (const [path, expected] of walk(value, "$")) {
        const steps = parseJsonPath(path);
        expect(steps && selectJson(value, steps)).toEqual({ found: true, value: expected });
      }
    }),
    { numRuns: 200 },
  );
});

test("any text is a path or an error, in linear time", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void parseJsonPath(text)));
  const start = process.threadCpuUsage();
  for (const hostile of ['["', "[", ".", '["\\', "a["]) parseJsonPath(hostile.repeat(100_000));
  expect(process.threadCpuUsage(start).user).toBeLessThan(1_000_000);
});

test("depth is counted as JSON.parse would nest it", () => {
  const depthOf = (value: unknown): number =>
    typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const depth = depthOf(JSON.parse(JSON.stringify(value)));
      expect(isDeeperThan(JSON.stringify(value), depth)).toBe(false);
      if (depth > 0) expect(isDeeperThan(JSON.stringify(value), depth - 1)).toBe(true);
    }),
  );
});
