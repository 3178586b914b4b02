import {
  type AnyAction,
  type CheckedCall,
  type Context,
  ownerOf,
  type QuestionOutcome,
  type Risk,
  type Step,
  ToolError,
  withoutDefaults,
} from "@octant/core";
import type { Denied, ProgramLimits } from "@octant/host";
import { nameOf } from "../call-name.ts";
import type { PolicyCall } from "./facts.ts";
import type { Decision, Policy } from "./policy.ts";
import { alwaysInWords, describeRule, describeRuleInside, type PermissionRule, ruleInWords } from "./rule.ts";
import type { SessionAnswers } from "./session-answers.ts";

/** `host`: the host asks the person, so only deny rules apply. `enforce`: Octant asks about calls that no rule allows. */
export type PermissionSetting = "host" | "enforce";

export interface CheckPermissionOptions {
  readonly policy: Policy;
  readonly permissions: PermissionSetting;
  readonly session: Pick<SessionAnswers, "allows" | "denial" | "remember">;
  /** Runs the call under the denials of the rules for everything that it reaches. */
  during?<T>(denied: Denied | undefined, run: () => T): T;
  /** Runs the call with programs that are confined like this. */
  limiting?<T>(limits: ProgramLimits, run: () => T): T;
  /** Calls that are not asked about although no rule allows them, and why. */
  unasked?(call: CheckedCall, asked: PolicyCall, session: string): Unasked | undefined;
  /** Writes a rule to the local settings. Without it "always" is not offered. */
  addRule?(rule: PermissionRule): Promise<void> | void;
}

export interface Unasked {
  readonly reason: string;
  readonly limits?: ProgramLimits;
}

/** A rule that denies stops the call in any setting; a question is asked, or passes where the host asks it. */
export function checkPermission(options: CheckPermissionOptions): Step {
  const { policy, permissions, session: answers, during = (_denied, run) => run() } = options;
  const { limiting = (_limits, run) => run() } = options;

  return (call, ctx, pass) => {
    const asked = { name: nameOf(call), input: call.input, action: call.act };
    const session = ctx.caller.id;
    const limits = policy.denied([asked]);
    const next = () => during(limits, pass);
    if (limits) ctx.hide((uri) => (uri === null ? undefined : toDenial(policy, { ...asked, file: uri })));
    const decision = policy.evaluate(asked);
    const note = (outcome: Decision["mode"], by: Pick<Decision, "tier" | "reason">) =>
      ctx.decided({ step: "permission", outcome, ...ruleOf(decision), tier: by.tier, reason: by.reason });

    const { outcome, why, hides: leaves } = judge(policy, asked, decision, permissions);
    if (outcome === "refused") {
      note("deny", decision);
      throw denied(asked.name, decision);
    }
    const refusal = answers.denial(session, asked);
    if (refusal) {
      note("deny", { tier: "session", reason: "the person denied it for this session" });
      throw denied(asked.name, refusal);
    }
    if (outcome === "runs") {
      const isLeftToHost = decision.mode === "prompt" && permissions === "host";
      note(isLeftToHost ? "prompt" : "allow", { tier: decision.tier, reason: why });
      if (leaves) ctx.hide(leaves);
      return next();
    }
    if (answers.allows(session, asked)) {
      note("allow", { tier: "session", reason: "the person allowed it for this session" });
      return next();
    }
    const unasked = decision.tier === "default" ? options.unasked?.(call, asked, session) : undefined;
    if (unasked) {
      const { reason, limits: confined = {} } = unasked;
      note("allow", { tier: "mode", reason });
      return limiting(confined, next);
    }
    return ask(options, { call, asked, decision, session, note }, ctx).then(next);
  };
}

function toDenial(policy: Policy, call: PolicyCall): string | undefined {
  const { mode, reason } = policy.evaluate(call);
  return mode === "deny" ? reason : undefined;
}

export interface Judgement {
  readonly outcome: "runs" | "asks" | "refused";
  readonly why: string;
  /** For a call that a rule denies because of some of its files: which of them to leave out. */
  readonly hides?: Context["hides"];
}

/** The outcome of a call by the rules alone, before anybody is asked. */
export function judge(
  policy: Policy,
  call: PolicyCall & { readonly action: AnyAction },
  decision: Decision,
  permissions: PermissionSetting,
): Judgement {
  const { mode, tier, reason } = decision;
  const hides = mode === "deny" && toHidden(policy, call, decision, permissions);
  if (hides) return { outcome: "runs", why: `${reason}; its files are left out`, hides };
  if (mode === "deny") return { outcome: "refused", why: reason };
  if (mode === "allow") return { outcome: "runs", why: reason };
  if (permissions === "host") return { outcome: "runs", why: `${reason}; left to the host` };
  // Asking about every read would make people disable the questions; a rule can still ask.
  if (tier === "default" && call.action.access === "read" && !call.action.openWorld)
    return { outcome: "runs", why: "no rule matches this call, and it only reads the project" };
  return { outcome: "asks", why: reason };
}

interface Asked {
  readonly call: CheckedCall;
  readonly asked: PolicyCall;
  readonly decision: Decision;
  readonly session: string;
  note(outcome: Decision["mode"], by: Pick<Decision, "tier" | "reason">): void;
}

async function ask(options: CheckPermissionOptions, about: Asked, ctx: Context): Promise<void> {
  const { policy, addRule } = options;
  const { call, asked, decision, session, note } = about;
  const rule = policy.narrowRule(asked);
  // Under a rule that asks, one that allows would have no effect: the strictest tier wins.
  const isHeard = decision.tier === "default";
  // An owner of the bridge must not write a rule into this machine's settings, which apply to everybody.
  const offered = addRule && isHeard && ownerOf(ctx.caller.id) === undefined ? rule : undefined;
  const always = offered && { ...offered, expires_at: inDays(ALWAYS_DAYS) };
  const preview = await previewOf(call, ctx);
  const isCovered = () => options.session.allows(session, asked);
  const take = async ({ answer }: QuestionOutcome) => {
    if (answer === "always" && always) await addRule?.(always);
    // In effect at once, whenever the settings are read again.
    if (answer === "session" || answer === "always") options.session.remember(session, asked, rule);
  };
  const { name, input } = asked;
  const outcome = await ctx.ask(
    {
      kind: "permission",
      action: name,
      summary: call.act.summary,
      input: withoutDefaults(call.act, input),
      preview,
      reason: decision.reason,
      ...ruleOf(decision),
      tier: decision.tier,
      risk: risksOf(call, decision),
      session: rule && ruleInWords(rule),
      always: always && { rule: always, words: alwaysInWords(always) },
    },
    { isCovered, take },
  );
  ctx.signal.throwIfAborted();
  if (outcome.answer === "unattended") {
    const { reason = "nobody can be asked here" } = outcome;
    note("prompt", { tier: decision.tier, reason: `${decision.reason}; ${reason}` });
    throw approvalRequired(name, decision, rule, reason);
  }
  const by = outcome.by === undefined ? "" : ` (${outcome.by})`;
  if (outcome.answer === "deny") {
    const reason = outcome.reason ? `the person said no: ${outcome.reason}` : "the person said no";
    note("deny", { tier: "session", reason: `${reason}${by}` });
    throw new ToolError("PERMISSION_DENIED", `${name}: ${reason}`, { by: "permission", reason });
  }
  note("allow", { tier: "session", reason: `the person answered: ${outcome.answer}${by}` });
}

const risksOf = ({ act }: CheckedCall, { tier }: Decision): readonly Risk[] => [
  ...(act.destructive ? (["destructive"] as const) : []),
  ...(act.openWorld ? (["open_world"] as const) : []),
  ...(act.runsCommands ? (["runs_commands"] as const) : []),
  ...(tier === "sandbox" ? (["unconfined"] as const) : []),
];

/** How long the answer "always" holds. A rule that a person writes holds forever, unless it says otherwise. */
export const ALWAYS_DAYS = 30;

export const inDays = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().replace(/\.\d+/, "");

/** A call whose preview fails, such as a patch that does not apply, is refused before anybody is asked. */
async function previewOf({ act, input }: CheckedCall, ctx: Context): Promise<string | undefined> {
  try {
    return await act.preview?.(input, ctx);
  } catch (cause) {
    ctx.signal.throwIfAborted();
    if (cause instanceof ToolError) throw cause;
    return undefined;
  }
}

const ruleOf = ({ rule }: Decision) => rule && { rule: describeRule(rule) };

function denied(name: string, { rule, reason }: Decision): ToolError {
  const message = `${name} is denied: ${reason}`;
  return new ToolError("PERMISSION_DENIED", message, {
    by: "permission",
    ...(rule && { rule: describeRuleInside(rule) }),
    reason,
  });
}

function approvalRequired(
  name: string,
  decision: Decision,
  rule: PermissionRule | undefined,
  why: string,
): ToolError {
  const { reason } = decision;
  const way =
    decision.tier === "default" && rule
      ? `this rule in the user settings would allow it: ${JSON.stringify(rule)}`
      : "run it where a person can be asked";
  const message = `${name} needs the approval of a person, and ${why}: ${reason}; ${way}`;
  return new ToolError("APPROVAL_REQUIRED", message, {
    by: "permission",
    ...(decision.rule && { rule: describeRuleInside(decision.rule) }),
    reason,
  });
}

/**
 * For a call denied because of some of its files: which of them to leave out. undefined when the rule is about the
 * whole call, or about exactly the file or folder that it names.
 */
function toHidden(
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
