export { HOOK_EVENTS, type HookEvent, HookSettings } from "./hook.ts";
export { type RunHooksOptions, runHooks } from "./run-hooks.ts";
export { createHookRunner, type HookRunner, type HookRunnerOptions, type HookVerdict } from "./runner.ts";
