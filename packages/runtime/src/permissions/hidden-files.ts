import type { Context } from "@octant/core";
import type { PermissionSetting } from "./check-permission.ts";
import type { PolicyCall } from "./facts.ts";
import type { Decision, Policy } from "./policy.ts";

/**
 * For a call denied because of some of its files: which of them to leave out. undefined when the rule is about the
 * whole call, or about exactly the file or folder that it names.
 */
export function toHidden(
  policy: Policy,
  call: PolicyCall,
  { reason }: Decision,
  permissions: PermissionSetting,
): Context["hides"] | undefined {
  if (!call.action?.leavesOut) return undefined;
  const judge = (file: string): Decision => policy.evaluate({ ...call, file });
  const named = policy.treesIn(call);
  if ((named.length > 0 ? named : ["."]).some((tree) => judge(tree).mode === "deny")) return undefined;
  return (uri) => {
    if (uri === null) return reason;
    const { mode, tier, reason: why } = judge(uri);
    const asks = mode === "prompt" && tier !== "default" && permissions === "enforce";
    return mode === "deny" || asks ? why : undefined;
  };
}
