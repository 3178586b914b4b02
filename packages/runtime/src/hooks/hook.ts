import { z } from "zod";
import { ToolPattern } from "../permissions/rule.ts";

const CALL_EVENTS = ["pre_tool_use", "post_tool_use"] as const;
export type HookEvent = (typeof CALL_EVENTS)[number];

/** The events of Claude Code, with the JSON that its hooks read and write. */
export const CLAUDE_EVENTS = [
  "PreToolUse",
  "PostToolUse",
  "SessionStart",
  "UserPromptSubmit",
  "Stop",
  "SubagentStop",
  "PreCompact",
  "Notification",
  "SessionEnd",
] as const;
export type ClaudeEvent = (typeof CLAUDE_EVENTS)[number];

const DEFAULT_TIMEOUT_MS = 5_000;
const DEFAULT_CLAUDE_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 600_000;
const timeout = (defaultMs: number) => z.int().min(1).max(MAX_TIMEOUT_MS).default(defaultMs);

/** A shell command that runs before or after a call. */
const CallHook = z.strictObject({
  event: z.enum(CALL_EVENTS),
  tool_pattern: ToolPattern,
  command: z.string().min(1),
  timeout_ms: timeout(DEFAULT_TIMEOUT_MS),
});
export type CallHook = z.output<typeof CallHook>;

/** A hook as Claude Code has it; the matcher is about the tool, source, trigger, type or reason. */
const ClaudeHook = z.strictObject({
  event: z.enum(CLAUDE_EVENTS),
  matcher: z.string().max(500).optional(),
  command: z.string().min(1),
  timeout_ms: timeout(DEFAULT_CLAUDE_TIMEOUT_MS),
});
export type ClaudeHook = z.output<typeof ClaudeHook>;

/** One hook in the settings. */
export const HookSettings = z.discriminatedUnion("event", [CallHook, ClaudeHook]);
export type HookSettings = z.output<typeof HookSettings>;

export const isCallHook = (hook: HookSettings): hook is CallHook => "tool_pattern" in hook;
