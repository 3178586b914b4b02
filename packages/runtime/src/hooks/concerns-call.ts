import { toToolTest } from "../permissions/glob.ts";
import { toClaudeName } from "./claude-call.ts";
import { type HookSettings, isCallHook } from "./hook.ts";

/** Whether the hook runs before or after a call of this name. */
export function concernsCall(hook: HookSettings, name: string): boolean {
  if (isCallHook(hook)) return toToolTest(hook.tool_pattern)(name);
  const isAboutCalls = hook.event === "PreToolUse" || hook.event === "PostToolUse";
  return isAboutCalls && toMatcher(hook.matcher)(toClaudeName(name));
}

/** Exact names, `A|B`, or a regular expression over the whole name; none, or `*`, for all. */
export function toMatcher(matcher = ""): (subject: string) => boolean {
  if (matcher === "" || matcher === "*") return () => true;
  if (/^[\w.|-]+$/.test(matcher)) return (subject) => matcher.split("|").includes(subject);
  try {
    const pattern = new RegExp(`^(?:${matcher})$`);
    return (subject) => pattern.test(subject);
  } catch {
    // A guard that cannot be read guards everything.
    return () => true;
  }
}
