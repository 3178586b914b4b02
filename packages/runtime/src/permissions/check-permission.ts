import { type AnyAction, type CheckedCall, type Context, type Step, ToolError } from "@octant/core";
import type { PolicyCall } from "./facts.ts";
import type { Decision, Policy } from "./policy.ts";
import { type PermissionPrompter, unattended } from "./prompter.ts";
import { describeRule, describeRuleInside, type PermissionRule } from "./rule.ts";
import type { SessionAnswers } from "./session-answers.ts";

/** `host`: the host asks the person, so only deny rules apply. `enforce`: Octant asks about calls that no rule allows. */
export type PermissionSetting = "host" | "enforce";

export interface CheckPermissionOptions {
  readonly policy: Policy;
  readonly permissions: PermissionSetting;
  readonly session: SessionAnswers;
  /** Absent when no person can be asked. */
  readonly prompter?: PermissionPrompter;
  /** Which session a call belongs to; its caller when absent. */
  sessionOf?(ctx: Context): string;
  /** The name that rules are written for; `tool.action` when absent. */
  nameOf?(call: CheckedCall): string;
  /** Writes a rule to the local settings. Without it "always" is not offered. */
  addRule?(rule: PermissionRule): Promise<void> | void;
}

/** A rule that denies stops the call in any setting; a question is asked, or passes where the host asks it. */
export function checkPermission(options: CheckPermissionOptions): Step {
  const { policy, permissions, session } = options;
  const { nameOf = (call) => `${call.tool.name}.${call.name}`, sessionOf = (ctx) => ctx.caller.id } = options;

  return (call, ctx, next) => {
    const asked: PolicyCall = { name: nameOf(call), input: call.input, action: call.act };
    const decision = policy.evaluate(asked);
    const note = (outcome: Decision["mode"], by: Pick<Decision, "tier" | "reason">) =>
      ctx.decided({ step: "permission", outcome, ...ruleOf(decision), tier: by.tier, reason: by.reason });

    const hidden = decision.mode === "deny" && toHidden(policy, asked, decision, permissions);
    if (hidden) {
      note("allow", { tier: decision.tier, reason: `${decision.reason}; its files are left out` });
      ctx.hide(hidden);
      return next();
    }
    if (decision.mode === "deny") {
      note("deny", decision);
      throw denied(asked.name, decision);
    }
    const refusal = session.denial(sessionOf(ctx), asked);
    if (refusal) {
      note("deny", { tier: "session", reason: "the person denied it for this session" });
      throw denied(asked.name, refusal);
    }
    if (decision.mode === "allow") {
      note("allow", decision);
      return next();
    }
    if (permissions === "host") {
      note("prompt", { tier: decision.tier, reason: `${decision.reason}; left to the host` });
      return next();
    }
    if (decision.tier === "default" && onlyLooks(call.act)) {
      note("allow", {
        tier: "default",
        reason: "no rule is about this call, and it only looks at the project",
      });
      return next();
    }
    if (session.allows(sessionOf(ctx), asked)) {
      note("allow", { tier: "session", reason: "the person allowed it for this session" });
      return next();
    }
    return ask(options, { call, asked, decision, session: sessionOf(ctx), note }, ctx).then(next);
  };
}

/** Asking for every look would make people switch the questions off; a rule can still ask. */
export const onlyLooks = (act: Pick<AnyAction, "access" | "openWorld">): boolean =>
  act.access === "read" && !act.openWorld;

interface Question {
  readonly call: CheckedCall;
  readonly asked: PolicyCall;
  readonly decision: Decision;
  readonly session: string;
  note(outcome: Decision["mode"], by: Pick<Decision, "tier" | "reason">): void;
}

async function ask(options: CheckPermissionOptions, question: Question, ctx: Context): Promise<void> {
  const { policy, prompter = unattended, addRule } = options;
  const { call, asked, decision, session, note } = question;
  const rule = policy.narrowRule(asked);
  // Under a rule that asks, one that allows would not be heard: the strictest tier wins.
  const offered = addRule && decision.tier === "default" ? rule : undefined;
  const always = offered && { ...offered, expires_at: inDays(ALWAYS_DAYS) };
  const answer = await prompter.requestPermission({
    name: asked.name,
    summary: call.act.summary,
    input: call.input,
    preview: await previewOf(call, ctx),
    decision,
    caller: ctx.caller,
    ask: ctx.ask,
    progress: ctx.progress,
    signal: ctx.signal,
    isCovered: () => options.session.allows(session, asked),
    always,
  });
  ctx.signal.throwIfAborted();
  if (answer.answer === "unattended") {
    const { reason = "nobody can be asked here" } = answer;
    note("prompt", { tier: decision.tier, reason: `${decision.reason}; ${reason}` });
    throw approvalRequired(asked.name, decision, rule, reason);
  }
  const by = answer.by === undefined ? "" : ` (token ${answer.by})`;
  if (answer.answer === "deny") {
    const reason = answer.reason ? `the person said no: ${answer.reason}` : "the person said no";
    note("deny", { tier: "session", reason: `${reason}${by}` });
    throw new ToolError("PERMISSION_DENIED", `${asked.name}: ${reason}`, { by: "permission", reason });
  }
  if (answer.answer === "always" && always) await addRule?.(always);
  // In effect at once, whenever the settings are read again.
  if (answer.answer !== "once") options.session.remember(session, asked, rule);
  note("allow", { tier: "session", reason: `the person answered: ${answer.answer}${by}` });
}

/** How long the answer "always" holds. A rule that a person writes holds forever, unless it says otherwise. */
export const ALWAYS_DAYS = 30;

export const inDays = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().replace(/\.\d+/, "");

/** A call that cannot be previewed will fail by itself when it runs, so the question is asked without one. */
async function previewOf({ act, input }: CheckedCall, ctx: Context): Promise<string | undefined> {
  try {
    return await act.preview?.(input, ctx);
  } catch {
    ctx.signal.throwIfAborted();
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
