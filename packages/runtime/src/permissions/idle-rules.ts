import type { Tool } from "@octant/core";
import type { TierRules } from "../config/config.ts";
import { toToolTest } from "./glob.ts";
import { describeRule, type PermissionRule } from "./rule.ts";

/**
 * Warnings about rules that can never match, mostly typos: an ineffective deny rule must not go unnoticed. Rules that
 * may refer to foreign tools are not reported, since those come and go.
 */
export function findIdleRules(tiers: readonly TierRules[], tools: readonly Tool[]): readonly string[] {
  const actions = tools.flatMap((tool) =>
    Object.entries(tool.actions).map(([name, { input }]) => ({
      name: `${tool.name}.${name}`,
      names: Object.keys(input.shape),
    })),
  );
  return tiers.flatMap(({ tier, rules }) =>
    rules.flatMap((rule) => {
      const why = whyIdle(rule, actions);
      return why ? [`rule '${describeRule(rule)}' of the ${tier} settings never matches: ${why}`] : [];
    }),
  );
}

const KINDS = ["path", "command", "host"];

function whyIdle(
  { tool_pattern, args = {} }: PermissionRule,
  actions: readonly { readonly name: string; readonly names: readonly string[] }[],
): string | undefined {
  const matches = toToolTest(tool_pattern);
  if (tool_pattern.startsWith("mcp__") || matches("mcp__any__tool")) return undefined;
  const meant = actions.filter(({ name }) => matches(name));
  if (meant.length === 0) return "there is no such action";
  const unknown = Object.keys(args).find(
    (argument) => !KINDS.includes(argument) && !meant.some(({ names }) => names.includes(argument)),
  );
  return unknown === undefined ? undefined : `none of its actions has an argument '${unknown}'`;
}
