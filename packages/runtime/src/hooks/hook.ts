import { z } from "zod";
import { ToolPattern } from "../permissions/rule.ts";

const HOOK_EVENTS = ["pre_tool_use", "post_tool_use"] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

const DEFAULT_TIMEOUT_MS = 5_000;
const MAX_TIMEOUT_MS = 600_000;

/** One hook in the settings: a shell command that runs before or after a call. */
export const HookSettings = z.strictObject({
  event: z.enum(HOOK_EVENTS),
  tool_pattern: ToolPattern,
  command: z.string().min(1),
  timeout_ms: z.int().min(1).max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS),
});
export type HookSettings = z.output<typeof HookSettings>;
