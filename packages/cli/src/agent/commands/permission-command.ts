import { ToolError } from "@octant/core";
import {
  ALWAYS_DAYS,
  addLocalRule,
  describeRule,
  inDays,
  isExpired,
  type PermissionRule,
  ruleInWords,
  ToolPattern,
} from "@octant/runtime";
import type { SlashCommand, SlashContext, SlashOutcome } from "./slash-command.ts";

const MODES = { allow: "allow", deny: "deny", ask: "prompt" } as const;
const CHANGE = /^(allow|deny|ask)\s+(\S+)(\s+always)?$/;

export const permissions: SlashCommand = {
  name: "permissions",
  argument: "[allow|deny|ask PATTERN [always]]",
  summary: "Show the permission rules, or set one for this session; always writes it to your settings too",
  complete: () => ["allow", "deny", "ask"],
  run: (argument, context) => (argument === "" ? show(context) : change(argument, context)),
};

function show({ opened: { octant, agent } }: SlashContext): SlashOutcome {
  const own = octant.sessionRules.rules(agent.session.id).map((rule) => ["session", rule] as const);
  const set = octant.config.permissions.flatMap(({ tier, rules }) =>
    rules.map((rule) => [tier, rule] as const),
  );
  const lines = [...own, ...set].flatMap(([tier, rule]) => {
    const [head, ...commands] = ruleInWords(rule);
    return [`- ${tier}, ${lasting(tier, rule)}: ${head}`, ...commands.map((line) => `  - ${line.trim()}`)];
  });
  return { text: lines.join("\n") || "there are no rules; calls that change something are asked about" };
}

function lasting(tier: string, rule: PermissionRule): string {
  if (tier === "session") return "until it ends";
  const { expires_at } = rule;
  if (expires_at === undefined) return "for good";
  return `${isExpired(rule) ? "expired on" : "until"} ${expires_at.slice(0, 10)}`;
}

async function change(argument: string, { opened, io }: SlashContext): Promise<SlashOutcome> {
  const { octant, agent } = opened;
  const [, verb, pattern = "", always] = CHANGE.exec(argument) ?? [];
  if (verb === undefined || !ToolPattern.safeParse(pattern).success) {
    const message = "/permissions takes allow, deny or ask, and a pattern such as fs.* or proc.exec";
    throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "", message }] });
  }
  // The regular expression matches only these verbs.
  const rule: PermissionRule = { tool_pattern: pattern, mode: MODES[verb as keyof typeof MODES] };
  octant.sessionRules.setRule(agent.session.id, rule);
  const shown = `\`${describeRule(rule)}\``;
  if (always === undefined) return { text: `${shown} for this session` };
  const kept = verb === "allow" ? { ...rule, expires_at: inDays(ALWAYS_DAYS) } : rule;
  const [root = "/"] = octant.workspace.confinement.roots;
  const { trusted } = await addLocalRule(root, kept, { env: io.env });
  const note = trusted ? "" : "; it waits for your trust with the rest of that file: `octant trust`";
  return { text: `\`${describeRule(kept)}\` from now on, in \`.hanzo/settings.local.json\`${note}` };
}
