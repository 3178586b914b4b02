import { describePermission } from "@octant/core";
import type { PermissionRequest } from "./prompter.ts";
import { describeRule } from "./rule.ts";

/** The lines a person needs to decide. */
export const describeRequest = ({ name, decision, ...request }: PermissionRequest): readonly string[] =>
  describePermission({
    ...request,
    action: name,
    reason: decision.reason,
    rule: decision.rule ? describeRule(decision.rule) : undefined,
  });
