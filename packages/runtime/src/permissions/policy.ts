import { type Denied, pathToUri } from "@octant/host";
import type { TierName, TierRules } from "../config/config.ts";
import { createDeclarations } from "./arguments.ts";
import { type Condition, toConditions } from "./conditions.ts";
import { toDeclaredFacts } from "./declared-facts.ts";
import { toDenied } from "./denials.ts";
import { type Facts, once, type PolicyCall, toGuessedFacts } from "./facts.ts";
import { toToolTest } from "./glob.ts";
import { toNarrowRule } from "./narrow-rule.ts";
import { onlyReads } from "./only-reads.ts";
import type { Places } from "./path-glob.ts";
import { describeRuleInside, isExpired, type PermissionMode, type PermissionRule } from "./rule.ts";

export interface Decision {
  readonly mode: PermissionMode;
  readonly tier: TierName | "default" | "session" | "sandbox" | "mode";
  readonly rule: PermissionRule | null;
  readonly reason: string;
}

const STRICTNESS: Readonly<Record<PermissionMode, number>> = { allow: 0, prompt: 1, deny: 2 };

/** The first use of a name checks every rule; the results for this many names are cached. */
const MAX_NAMES = 2_000;

export type Policy = ReturnType<typeof createPolicy>;

/**
 * The first matching rule of each tier counts, and the strictest of those wins; of two equally strict ones that of
 * the higher tier is named. So no tier can undo what another denies. Without a matching rule, the person is asked.
 */
export function createPolicy(tiers: readonly TierRules[], places: Places) {
  const compiled = tiers.flatMap(({ tier, rules }) => rules.map((rule) => compile(tier, rule, places)));
  const declarationOf = createDeclarations();
  const byName = new Map<string, readonly CompiledRule[]>();

  const rulesFor = (name: string): readonly CompiledRule[] => {
    const known = byName.get(name);
    if (known) return known;
    if (byName.size >= MAX_NAMES) byName.clear();
    const found = compiled.filter(({ isAbout }) => isAbout(name));
    byName.set(name, found);
    return found;
  };

  const factsOf = (call: PolicyCall): Facts => {
    const declaration = declarationOf(call.action);
    return declaration ? toDeclaredFacts(call, declaration, places) : toGuessedFacts(call, places);
  };

  /** Each tier's first rule that matches, highest tier first. */
  const votes = (call: PolicyCall): readonly Decision[] => {
    const facts = once(() => factsOf(call));
    const cast: Decision[] = [];
    for (const { decision, conditions, rule } of rulesFor(call.name)) {
      if (cast.at(-1)?.tier === decision.tier || isExpired(rule)) continue;
      if (conditions.every((fits) => fits(facts()))) cast.push(decision);
    }
    return cast;
  };

  const evaluate = (call: PolicyCall): Decision =>
    votes(call).reduce<Decision | undefined>(
      (strictest, vote) =>
        strictest && STRICTNESS[strictest.mode] >= STRICTNESS[vote.mode] ? strictest : vote,
      undefined,
    ) ?? DEFAULT_DECISION;

  return {
    votes,
    evaluate,
    /** The files and hosts that these calls must not reach in any way; undefined when no rule names any. */
    denied: (calls: readonly PolicyCall[]): Denied | undefined =>
      toDenied(calls, { rulesFor, evaluate }, places),
    /**
     * The same for a tool whose name only its code will tell, and is none of these: what any rule that may be about
     * it denies.
     */
    deniedBesides: (names: readonly string[]): Denied | undefined =>
      createPolicy(toUnnamed(tiers, names), places).denied([{ name: UNNAMED, input: {} }]),
    /** The files and URLs that the call names. */
    named(call: PolicyCall): { readonly files: readonly string[]; readonly urls: readonly string[] } {
      const held = declarationOf(call.action)?.valuesIn(call.input) ?? [];
      const texts = held.flatMap(({ kind, value }) =>
        (kind === "host" || kind === "address") && typeof value === "string" ? [value] : [],
      );
      return {
        files: factsOf(call)
          .paths()
          .values.map(({ named }) => pathToUri(named)),
        urls: texts.filter((text) => /^https?:/i.test(text)),
      };
    },
    /** The folders and files that the call names as trees. */
    treesIn: ({ action, input }: PolicyCall): readonly string[] =>
      declarationOf(action)
        ?.valuesIn(input)
        .flatMap(({ kind, value }) => (kind === "tree" && typeof value === "string" ? [value] : [])) ?? [],
    /** Whether the call runs only programs that read the project. */
    onlyReads({ action, input }: PolicyCall): boolean {
      const plain = action?.plainCommand?.(input);
      return plain !== undefined && onlyReads(plain, places);
    },
    /** The narrowest useful rule that would allow this call and similar ones; undefined when none can describe them. */
    narrowRule(call: PolicyCall): PermissionRule | undefined {
      const rule = toNarrowRule(call, factsOf(call), places);
      if (!rule) return undefined;
      const { conditions, isAbout } = compile("local", rule, places);
      return isAbout(call.name) && conditions.every((fits) => fits(factsOf(call))) ? rule : undefined;
    },
  };
}

const DEFAULT_DECISION: Decision = {
  mode: "prompt",
  tier: "default",
  rule: null,
  reason: "no rule matches this call, so the person decides",
};

const UNNAMED = "unnamed.action";

/** The rules with those that deny paths or hosts to tools of other names made to be about every tool. */
const toUnnamed = (tiers: readonly TierRules[], names: readonly string[]): readonly TierRules[] =>
  tiers.map(({ tier, rules }) => ({
    tier,
    rules: rules.map((rule) => {
      const [tool = ""] = rule.tool_pattern.split(".");
      const mayBeMeant = !names.includes(tool) && !tool.startsWith("mcp__");
      const isLimiting =
        rule.mode === "deny" && (rule.args?.path !== undefined || rule.args?.host !== undefined);
      return isLimiting && mayBeMeant ? { ...rule, tool_pattern: "*" } : rule;
    }),
  }));

interface CompiledRule {
  readonly rule: PermissionRule;
  readonly decision: Decision;
  readonly conditions: readonly Condition[];
  isAbout(name: string): boolean;
}

function compile(tier: TierName, rule: PermissionRule, places: Places): CompiledRule {
  const conditions = rule.args ? toConditions(rule.args, rule.mode, places) : [];
  const said = `rule '${describeRuleInside(rule)}' of the ${tier} settings`;
  const reason = rule.reason === undefined ? said : `${rule.reason} (${said})`;
  return {
    rule,
    decision: { mode: rule.mode, tier, rule, reason },
    conditions,
    isAbout: toToolTest(rule.tool_pattern, rule.mode === "allow"),
  };
}
