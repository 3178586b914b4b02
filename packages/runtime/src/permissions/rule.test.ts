import { expect, test } from "vitest";
import { z } from "zod";
import { describeRule, PermissionRule, Permissions, toRules } from "./rule.ts";

const parse = (text: string) => PermissionRule.safeParse(JSON.parse(text));

test("a map and a list are equivalent", () => {
  const map = Permissions.parse({ "fs.*": "allow", "proc.exec": "deny" });
  expect(toRules(map)).toEqual([
    { tool_pattern: "fs.*", mode: "allow" },
    { tool_pattern: "proc.exec", mode: "deny" },
  ]);
  expect(toRules([...toRules(map)])).toEqual(toRules(map));
});

test.each([
  `{"tool_pattern":"!fs.rm","mode":"allow"}`,
  `{"tool_pattern":"","mode":"allow"}`,
  `{"tool_pattern":"fs.(a+)+","mode":"allow"}`,
  `{"tool_pattern":"fs","mode":"ask"}`,
  `{"tool_pattern":"fs","mode":"deny","reasn":"typo"}`,
  `{"tool_pattern":"fs","mode":"deny","args":{"path":"!src/**"}}`,
  `{"tool_pattern":"fs","mode":"deny","args":{"path":"src/../../x"}}`,
  `{"tool_pattern":"fs","mode":"deny","args":{"path":[]}}`,
  `{"tool_pattern":"proc","mode":"allow","args":{"command":"git status"}}`,
  `{"tool_pattern":"proc","mode":"allow","args":{"command":[]}}`,
  `{"tool_pattern":"net","mode":"allow","args":{"host":"https://example.com/"}}`,
  `{"tool_pattern":"net","mode":"allow","args":{"host":"a*.example.com"}}`,
  `{"tool_pattern":"net","mode":"allow","args":{"host":"user@example.com"}}`,
  `{"tool_pattern":"fs","mode":"allow","args":{"__proto__":"x"}}`,
  `{"tool_pattern":"fs","mode":"allow","args":{"range":{"start":1}}}`,
])("a rule that would not mean what it says is refused: %s", (text) => {
  expect(parse(text).success).toBe(false);
});

test.each([
  `{"tool_pattern":"net","mode":"allow","args":{"host":["[::1]:8080","*.example.com:443","*","*:443","bücher.example"]}}`,
  `{"tool_pattern":"proc","mode":"allow","args":{"command":[["git","status"],["npm","test"]]}}`,
  `{"tool_pattern":"vcs.push","mode":"deny","reason":"ask me","args":{"force":true,"constructor":"x"}}`,
])("a good rule stays as it is written: %s", (text) => {
  expect(parse(text)).toEqual({ success: true, data: JSON.parse(text) });
});

test("editors get a schema for rules", () => {
  const schema = z.toJSONSchema(PermissionRule, { io: "input" });
  expect(JSON.stringify(schema)).toContain("Hosts, such as");
});

test("a rule is described in one line", () => {
  const rule = PermissionRule.parse({ tool_pattern: "fs.*", mode: "deny", args: { path: ".env" } });
  expect(describeRule(rule)).toBe('deny fs.* {"path":".env"}');
});
