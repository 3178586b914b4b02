import type { TierRules } from "../config/config.ts";
import { toToolTest } from "./glob.ts";
import { isExpired } from "./rule.ts";

/**
 * Whether no rule denies the action or asks about it, whatever its arguments: for something that runs elsewhere, where
 * nobody can be asked and no argument is seen. As in the policy, the first rule of a tier that fits every call counts.
 */
export const isUnrestricted = (tiers: readonly TierRules[], name: string): boolean =>
  tiers.every(({ rules }) => {
    const about = rules.filter(
      (rule) => !isExpired(rule) && toToolTest(rule.tool_pattern, rule.mode === "allow")(name),
    );
    const first = about.findIndex(({ args }) => args === undefined || Object.keys(args).length === 0);
    return about.slice(0, first === -1 ? about.length : first + 1).every(({ mode }) => mode === "allow");
  });
