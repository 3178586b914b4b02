import { type Access, type AnyAction, allowedIn, hasAccess, type Mode } from "@octant/core";
import { concernsCall } from "../hooks/concerns-call.ts";
import type { HookSettings } from "../hooks/hook.ts";
import { asksUnconfined, type Unconfined } from "./check-commands.ts";
import { type Judgement, judge, type PermissionSetting } from "./check-permission.ts";
import type { PolicyCall } from "./facts.ts";
import type { Policy } from "./policy.ts";

export interface ExplainOptions {
  /** `fs.apply_patch` or `mcp__server__tool`. */
  readonly name: string;
  readonly action: AnyAction;
  /** It need not be complete. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly policy: Policy;
  readonly permissions: PermissionSetting;
  readonly mode?: Mode | undefined;
  /** The caller's maximum access; default everything. */
  readonly access?: Access;
  readonly hooks: readonly HookSettings[];
  /** Why a file or a URL is out of reach whatever the rules say; undefined when it is not. */
  refusal?(kind: "file" | "url", name: string): string | undefined;
  readonly sandbox: { readonly mode: string; readonly level: string; readonly detail: string };
  readonly unconfined?: Unconfined | undefined;
}

export type PolicyExplanation = ReturnType<typeof explainPolicy>;

/** The decision about a call and its reason. The first step that does not pass decides. */
export function explainPolicy(options: ExplainOptions) {
  const { name, action, policy, permissions: setting, mode, access = "admin", hooks, sandbox } = options;
  const parsed = action.input.safeParse(options.input);
  const call = { name, action, input: parsed.success ? parsed.data : options.input };
  const decision = policy.evaluate(call);
  const accessPasses = hasAccess(access, action);
  const modePasses = allowedIn(mode, action);
  const verdict = toVerdict();
  const couldAllow = verdict.outcome === "asks" && decision.tier === "default";
  return {
    name,
    ...verdict,
    access: { needs: action.access, has: access, passes: accessPasses },
    mode: { mode: mode ?? null, intent: action.intent, passes: modePasses },
    /** `votes`: the first matching rule of each tier. */
    permission: { ...decision, setting, votes: policy.votes(call) },
    /** The hooks that would run, in order; one before the call can still deny it. */
    hooks: hooks.filter((hook) => concernsCall(hook, name)),
    /** Where commands that the call starts would run. */
    sandbox,
    /** The rule that would avoid the question; null when there is none, or when no question is asked. */
    allow_rule: (couldAllow && policy.narrowRule(call)) || null,
  };

  function toVerdict(): Judgement & { readonly decided_by: DecidedBy } {
    if (!accessPasses) {
      const why = `${name} needs ${action.access} access; the caller has ${access}`;
      return { outcome: "refused", decided_by: "access", why };
    }
    if (!modePasses) {
      const why = `mode ${mode} does not allow the intent ${action.intent}`;
      return { outcome: "refused", decided_by: "mode", why };
    }
    const { outcome, why } = judge(policy, call, decision, setting);
    const refusal = outcome === "refused" ? undefined : refusalOf(call, options);
    if (refusal !== undefined) return { outcome: "refused", decided_by: "workspace", why: refusal };
    const { unconfined } = options;
    if (outcome === "runs" && asksUnconfined(action, setting, unconfined))
      return { outcome: "asks", decided_by: "sandbox", why: unconfined.reason };
    return { outcome, decided_by: "permission", why };
  }
}

/** The first step that does not pass; the workspace refuses what is outside, protected or blocked. */
type DecidedBy = "access" | "mode" | "permission" | "workspace" | "sandbox";

function refusalOf(call: PolicyCall, { policy, refusal }: ExplainOptions): string | undefined {
  const { files, urls } = policy.named(call);
  const refused = [
    ...files.map((file) => refusal?.("file", file)),
    ...urls.map((url) => refusal?.("url", url)),
  ];
  return refused.find((why) => why !== undefined);
}
