import { expect, test } from "vitest";
import { type ExplainOptions, explainPolicy } from "./explain.ts";
import { createPolicy } from "./policy.ts";
import type { PermissionRule } from "./rule.ts";
import { toAction } from "./testing/vectors.ts";

const places = { roots: ["/nowhere/project"] };
const hook = { event: "pre_tool_use", command: "./check", timeout_ms: 5_000 } as const;

const explain = (rules: readonly PermissionRule[], more: Partial<ExplainOptions> = {}) =>
  explainPolicy({
    name: "fs.write",
    action: toAction({ uri: "path", base_hash: null }),
    input: { uri: "src/a.ts" },
    policy: createPolicy([{ tier: "user", rules }], places),
    permissions: "enforce",
    hooks: [
      { ...hook, tool_pattern: "fs" },
      { ...hook, tool_pattern: "proc.*" },
    ],
    sandbox: { mode: "workspace", level: "bubblewrap", detail: "bwrap 0.8" },
    ...more,
  });

test("without a rule the person is asked, and the rule that would stop that is proposed", () => {
  expect(explain([])).toMatchObject({
    outcome: "asks",
    decided_by: "permission",
    permission: { tier: "default", setting: "enforce", votes: [] },
    hooks: [{ tool_pattern: "fs" }],
    sandbox: { level: "bubblewrap" },
    allow_rule: { tool_pattern: "fs.write", mode: "allow", args: { path: ["src/*"] } },
  });
});

test("the rule that decides is named with its tier", () => {
  const rule: PermissionRule = { tool_pattern: "fs.*", mode: "deny", args: { path: "src/**" } };
  expect(explain([rule])).toMatchObject({
    outcome: "refused",
    why: expect.stringContaining("of the user settings"),
    permission: { mode: "deny", tier: "user", rule, votes: [{ rule }] },
    allow_rule: null,
  });
});

test("access comes before the mode, and the mode before the rules", () => {
  const allow: PermissionRule = { tool_pattern: "*", mode: "allow" };
  expect(explain([allow], { access: "read", mode: "inspect" })).toMatchObject({
    outcome: "refused",
    decided_by: "access",
    mode: { passes: false },
  });
  expect(explain([allow], { mode: "inspect" })).toMatchObject({ outcome: "refused", decided_by: "mode" });
  expect(explain([allow], { mode: "apply" })).toMatchObject({ outcome: "runs", decided_by: "permission" });
});

test("under a host, the host asks the question, and a read needs no approval", () => {
  expect(explain([], { permissions: "host" })).toMatchObject({ outcome: "runs", allow_rule: null });
  const action = toAction({ uri: "path" }, { access: "read", intent: "inspect" });
  expect(explain([], { action })).toMatchObject({ outcome: "runs" });
  expect(explain([{ tool_pattern: "*", mode: "prompt" }], { action })).toMatchObject({
    outcome: "asks",
    allow_rule: null,
  });
});
