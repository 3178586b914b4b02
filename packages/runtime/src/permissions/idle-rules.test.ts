import { defineTool } from "@octant/core";
import { expect, test } from "vitest";
import { findIdleRules } from "./idle-rules.ts";
import type { PermissionRule } from "./rule.ts";
import { toAction } from "./testing/vectors.ts";

const tools = [defineTool({ name: "fs", summary: "Files.", actions: { read: toAction({ uri: "path" }) } })];
const find = (rule: PermissionRule) => findIdleRules([{ tier: "user", rules: [rule] }], tools);

test("a rule for an unknown action is reported", () => {
  expect(find({ tool_pattern: "fs.raed", mode: "deny" })).toEqual([
    "rule 'deny fs.raed' of the user settings never matches: there is no such action",
  ]);
});

test("a condition on an unknown argument is reported", () => {
  expect(find({ tool_pattern: "fs", mode: "deny", args: { ury: ".env" } })).toEqual([
    `rule 'deny fs {"ury":".env"}' of the user settings never matches: none of its actions has an argument 'ury'`,
  ]);
});

test.each<PermissionRule>([
  { tool_pattern: "fs", mode: "deny", args: { uri: ".env" } },
  { tool_pattern: "fs.*", mode: "deny", args: { path: ".env" } },
  { tool_pattern: "*", mode: "deny", args: { anything: 1 } },
  { tool_pattern: "mcp__later__tool", mode: "allow" },
])("nothing is said of a rule that may match: %j", (rule) => expect(find(rule)).toEqual([]));
