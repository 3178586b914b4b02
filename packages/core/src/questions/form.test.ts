import { expect, test } from "vitest";
import { checkValues, fieldsOf } from "./form.ts";

const formWith = (field: object) => ({ type: "object", properties: { name: { type: "string", ...field } } });

/** Patterns whose check by backtracking takes longer than anybody waits. */
const HOSTILE = [
  ["^(a+)+$", `${"a".repeat(60)}!`],
  ["^(a|a)*$", `${"a".repeat(60)}!`],
  ["^(.*a){20}$", `${"a".repeat(60)}!`],
  ["(x+x+)+y", "x".repeat(100)],
] as const;

test.each(HOSTILE)("the pattern %s of a hostile server ends with a refusal of the value", (pattern, text) => {
  const form = formWith({ pattern });
  const before = process.cpuUsage();
  expect(checkValues(form, { name: text })).toEqual({
    issues: [{ path: "name", message: `the pattern ${pattern} takes too long to check` }],
  });
  expect(fieldsOf(form)[0]?.parse(text)).toMatchObject({ problem: expect.stringContaining("too long") });
  const { user } = process.cpuUsage(before);
  expect(user).toBeLessThan(5_000_000);
});

test("a pattern is checked as JSON Schema says, lookahead included", () => {
  const form = formWith({ pattern: "^(?=.*[0-9])[a-z0-9]+$" });
  expect(checkValues(form, { name: "abc1" })).toEqual({ content: { name: "abc1" } });
  expect(checkValues(form, { name: "abc" })).toEqual({
    issues: [{ path: "name", message: "must match ^(?=.*[0-9])[a-z0-9]+$" }],
  });
  expect(fieldsOf(form)[0]?.parse("abc1")).toEqual({ value: "abc1" });
  expect(fieldsOf(form)[0]?.parse("abc")).toEqual({ problem: "must match ^(?=.*[0-9])[a-z0-9]+$" });
  expect(checkValues(form, {})).toEqual({ content: {} });
});

test.each([
  ["that is not one", formWith({ pattern: "(" })],
  [
    "of list items",
    { type: "object", properties: { all: { type: "array", items: { type: "string", pattern: "^(a+)+$" } } } },
  ],
  ["in a combined schema", formWith({ anyOf: [{ pattern: "^(a+)+$" }] })],
  ["for the names of properties", formWith({ patternProperties: { "^(a+)+$": {} } })],
])("a form with a pattern %s is not shown", (_what, schema) => {
  expect(() => fieldsOf(schema)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
});

test("a field may be named pattern", () => {
  const form = { type: "object", properties: { pattern: { type: "string" } } };
  expect(checkValues(form, { pattern: "x" })).toEqual({ content: { pattern: "x" } });
});
