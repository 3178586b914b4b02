import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type AnyAction, action, type Holding, holding } from "@octant/core";
import { createPolicy, PermissionRule, TIERS, type TierName } from "@octant/runtime";
import { z } from "zod";

/** The path or command in an argument; null for a plain value. */
type Held = Holding | null | readonly { readonly [name: string]: Held }[];

interface PolicyInput {
  readonly files: Readonly<Record<string, string>>;
  readonly links: Readonly<Record<string, string>>;
  readonly actions: Readonly<Record<string, Readonly<Record<string, Held>>>>;
  readonly tiers: Partial<Record<TierName, readonly unknown[]>>;
  readonly call: { readonly name: string; readonly input: Readonly<Record<string, unknown>> };
}

/** Decides about a call in a real folder with the files and links of the case. */
export function decide(given: PolicyInput): object {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "octant-vectors-")));
  try {
    // The text is the same JSON with another name for the root.
    const input = JSON.parse(JSON.stringify(given).replaceAll("{root}", root)) as PolicyInput;
    for (const [path, content] of Object.entries(input.files)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
    for (const [path, target] of Object.entries(input.links)) symlinkSync(target, join(root, path));
    const tiers = TIERS.map((tier) => ({
      tier,
      rules: (input.tiers[tier] ?? []).map((rule) => PermissionRule.parse(rule)),
    }));
    const held = input.actions[input.call.name];
    const called = { ...input.call, ...(held && { action: toAction(held) }) };
    const { mode, tier, rule } = createPolicy(tiers, { roots: [root] }).evaluate(called);
    const rules = tiers.find((one) => one.tier === tier)?.rules;
    return { mode, tier, rule: rules && rule ? rules.indexOf(rule) : null };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const toAction = (held: Readonly<Record<string, Held>>): AnyAction =>
  action({
    summary: "Does something.",
    access: "write",
    timing: "sync",
    intent: "apply",
    input: z.strictObject(toShape(held)),
    output: z.unknown(),
    examples: [{ title: "It", input: {} }],
    run: () => "done",
  });

const toShape = (held: Readonly<Record<string, Held>>): Record<string, z.ZodType> =>
  Object.fromEntries(Object.entries(held).map(([name, what]) => [name, toField(what)]));

function toField(what: Held): z.ZodType {
  if (what === null) return z.unknown();
  if (typeof what === "string") return holding(what, z.unknown());
  return z.array(z.object(toShape(what[0] ?? {}))).optional();
}
