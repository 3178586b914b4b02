import { z } from "zod";
import type { Redact } from "../redact/redactor.ts";
import type { ClaudeEvent } from "./hook.ts";
import type { ProgramEnd } from "./run-command.ts";
import { toReason } from "./runner.ts";

/** The decision of an event's hook. */
export interface EventOutcome {
  /** Refuses what the event is about, and says why. */
  readonly block?: string;
  /** Ends the run. */
  readonly stop?: string;
  /** The person is to decide about the call. */
  readonly ask?: string;
  /** For the model. */
  readonly context?: string;
  /** For the person. */
  readonly messages?: readonly string[];
}

/** Events that a hook can refuse. */
const BLOCKABLE: readonly ClaudeEvent[] = [
  "PreToolUse",
  "UserPromptSubmit",
  "Stop",
  "SubagentStop",
  "PreCompact",
];
/** Events whose plain output is for the model. */
const TELLS_MODEL: readonly ClaudeEvent[] = ["UserPromptSubmit", "SessionStart"];
const MAX_CONTEXT_CHARS = 10_000;
const DENY = 2;

const Answer = z.object({
  continue: z.boolean().optional(),
  stopReason: z.string().optional(),
  systemMessage: z.string().optional(),
  decision: z.enum(["approve", "block"]).optional(),
  reason: z.string().optional(),
  hookSpecificOutput: z
    .object({
      hookEventName: z.string().optional(),
      additionalContext: z.string().optional(),
      permissionDecision: z.enum(["allow", "deny", "ask"]).optional(),
      permissionDecisionReason: z.string().optional(),
      updatedInput: z.unknown().optional(),
    })
    .optional(),
});
type Answer = z.output<typeof Answer>;

/** Interprets the end of a hook's program as Claude Code does; a guard of calls that is stopped denies the call. */
export function toOutcome(event: ClaudeEvent, end: ProgramEnd, redact: Redact): EventOutcome {
  const { exit_code, problem, stdout, stderr } = end;
  const line = (text: string) => toReason(text, redact);
  const failed = `a ${event} hook failed: ${line(problem ?? `exit code ${exit_code}`)}`;
  if (problem !== undefined) return event === "PreToolUse" ? { block: failed } : { messages: [failed] };
  if (exit_code === DENY) return toBlock(event, line(stderr) || "it gave no reason");
  if (exit_code !== 0) return { messages: [stderr === "" ? failed : `${failed}: ${line(stderr)}`] };
  const context = (text: string) => redact(text.trim()).slice(0, MAX_CONTEXT_CHARS).toWellFormed();
  const answer = parse(stdout);
  if (answer) return toAnswer(event, answer, line, context);
  return TELLS_MODEL.includes(event) && stdout.trim() !== "" ? { context: context(stdout) } : {};
}

function parse(stdout: string): Answer | undefined {
  if (!stdout.trimStart().startsWith("{")) return undefined;
  try {
    return Answer.parse(JSON.parse(stdout));
  } catch {
    return undefined;
  }
}

function toAnswer(
  event: ClaudeEvent,
  answer: Answer,
  line: (text: string) => string,
  context: (text: string) => string,
): EventOutcome {
  const { hookSpecificOutput: more, reason = "", systemMessage } = answer;
  const isOwn = more !== undefined && (more.hookEventName ?? event) === event;
  const decision = event === "PreToolUse" && isOwn ? more.permissionDecision : undefined;
  const why = line(more?.permissionDecisionReason ?? reason) || "it gave no reason";
  const isBlocked = answer.decision === "block" || decision === "deny";
  const changesInput = event === "PreToolUse" && isOwn && more.updatedInput !== undefined && !isBlocked;
  const blocked = isBlocked ? toBlock(event, why) : {};
  const told = isOwn && more.additionalContext ? context(more.additionalContext) : "";
  const all = [blocked.context, told].filter(Boolean).join("\n");
  return {
    ...blocked,
    ...(changesInput && { block: "it changes the input of the call, which Octant does not do" }),
    ...(decision === "ask" && { ask: why }),
    ...(answer.continue === false && { stop: line(answer.stopReason ?? "") || "a hook ended the run" }),
    ...(all !== "" && { context: all }),
    ...(systemMessage && { messages: [line(systemMessage)] }),
  };
}

/** Where nothing can be refused any more, the model or the person reads the reason. */
function toBlock(event: ClaudeEvent, reason: string): EventOutcome {
  if (BLOCKABLE.includes(event)) return { block: reason };
  if (event === "PostToolUse") return { context: reason };
  return { messages: [`a ${event} hook: ${reason}`] };
}
