import { type Step, ToolError } from "@octant/core";
import { nameOf } from "../call-name.ts";
import { toToolTest } from "../permissions/glob.ts";
import { type CallHook, type HookEvent, type HookSettings, isCallHook } from "./hook.ts";
import type { HookRunner, HookVerdict } from "./runner.ts";

export interface RunHooksOptions {
  readonly hooks: readonly HookSettings[];
  readonly runner: HookRunner;
}

/**
 * Runs pre-hooks in order before a call; the first that denies it ends it. Runs post-hooks after a successful call;
 * they change nothing and are not awaited.
 */
export function runHooks({ hooks, runner }: RunHooksOptions): Step {
  const tested = hooks.filter(isCallHook).map((hook) => ({ hook, matches: toToolTest(hook.tool_pattern) }));
  const find = (event: HookEvent, name: string) =>
    tested.filter(({ hook, matches }) => hook.event === event && matches(name)).map(({ hook }) => hook);

  return async (call, ctx, next) => {
    if (ctx.caller.isPerson) return next();
    const name = nameOf(call);
    const facts = { name, session: ctx.caller.id, input: call.input };
    for (const hook of find("pre_tool_use", name)) {
      const verdict = await runner.ask(hook, facts, ctx.signal);
      const { outcome, reason } = verdict;
      ctx.decided({ step: "hook", outcome, rule: hook.tool_pattern, ...(reason && { reason }) });
      if (outcome === "deny") throw denied(name, hook, verdict);
    }
    const output = await next();
    const postHooks = find("post_tool_use", name);
    if (postHooks.length > 0) runner.notify(postHooks, { ...facts, answer: { output } });
    return output;
  };
}

function denied(name: string, { tool_pattern: rule }: CallHook, { failed, reason }: HookVerdict): ToolError {
  const message = failed
    ? `${name} is denied because a hook that guards it failed: ${reason}; the log has the details, and only the person can fix the hook`
    : `${name} is denied by a hook: ${reason || "it gave no reason"}`;
  return new ToolError("PERMISSION_DENIED", message, { by: "hook", rule, ...(reason && { reason }) });
}
