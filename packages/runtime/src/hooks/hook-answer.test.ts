import { expect, test } from "vitest";
import { CLAUDE_EVENTS, type ClaudeEvent } from "./hook.ts";
import { type EventOutcome, toOutcome } from "./hook-answer.ts";
import type { ProgramEnd } from "./run-command.ts";

const BLOCKABLE: readonly ClaudeEvent[] = [
  "PreToolUse",
  "UserPromptSubmit",
  "Stop",
  "SubagentStop",
  "PreCompact",
];

const refused = (event: ClaudeEvent): EventOutcome => {
  if (BLOCKABLE.includes(event)) return { block: "why" };
  return event === "PostToolUse" ? { context: "why" } : { messages: [`a ${event} hook: why`] };
};
const told = (event: ClaudeEvent, text: string): EventOutcome =>
  event === "UserPromptSubmit" || event === "SessionStart" ? { context: text } : {};
const warned = (event: ClaudeEvent, what: string): EventOutcome => ({
  messages: [`a ${event} hook failed: ${what}`],
});
const guarded = (event: ClaudeEvent, what: string): EventOutcome =>
  event === "PreToolUse" ? { block: `a PreToolUse hook failed: ${what}` } : warned(event, what);

interface Row {
  readonly what: string;
  readonly end: Partial<ProgramEnd> | ((event: ClaudeEvent) => Partial<ProgramEnd>);
  readonly expected: (event: ClaudeEvent) => EventOutcome;
}

const json = (answer: object): Partial<ProgramEnd> => ({ stdout: `${JSON.stringify(answer)}\n` });
const own = (more: object) => (event: ClaudeEvent) =>
  json({ hookSpecificOutput: { hookEventName: event, ...more } });

const ROWS: readonly Row[] = [
  { what: "nothing", end: {}, expected: () => ({}) },
  { what: "plain text", end: { stdout: " hello\n" }, expected: (event) => told(event, "hello") },
  { what: "broken JSON", end: { stdout: "{oops" }, expected: (event) => told(event, "{oops") },
  {
    what: "JSON of another form",
    end: { stdout: '{"continue":"x"}' },
    expected: (event) => told(event, '{"continue":"x"}'),
  },
  { what: "an empty answer", end: json({}), expected: () => ({}) },
  { what: "suppressOutput", end: json({ suppressOutput: true }), expected: () => ({}) },
  { what: "block", end: json({ decision: "block", reason: "why" }), expected: refused },
  { what: "approve", end: json({ decision: "approve" }), expected: () => ({}) },
  {
    what: "continue false",
    end: json({ continue: false, stopReason: "enough" }),
    expected: () => ({ stop: "enough" }),
  },
  {
    what: "systemMessage",
    end: json({ systemMessage: "look\u001b[0m" }),
    expected: () => ({ messages: ["look[0m"] }),
  },
  {
    what: "additionalContext",
    end: own({ additionalContext: "more" }),
    expected: () => ({ context: "more" }),
  },
  {
    what: "additionalContext of another event",
    end: json({ hookSpecificOutput: { hookEventName: "Other", additionalContext: "more" } }),
    expected: () => ({}),
  },
  {
    what: "permissionDecision deny",
    end: own({ permissionDecision: "deny", permissionDecisionReason: "why" }),
    expected: (event) => (event === "PreToolUse" ? { block: "why" } : {}),
  },
  {
    what: "permissionDecision ask",
    end: own({ permissionDecision: "ask", permissionDecisionReason: "why" }),
    expected: (event) => (event === "PreToolUse" ? { ask: "why" } : {}),
  },
  { what: "permissionDecision allow", end: own({ permissionDecision: "allow" }), expected: () => ({}) },
  {
    what: "updatedInput",
    end: own({ permissionDecision: "allow", updatedInput: {} }),
    expected: (event) =>
      event === "PreToolUse" ? { block: "it changes the input of the call, which Octant does not do" } : {},
  },
  { what: "exit 2", end: { exit_code: 2, stderr: "why\n" }, expected: refused },
  {
    what: "exit 2 beside an answer, which does not count",
    end: { exit_code: 2, stderr: "why", ...json({ continue: false }) },
    expected: refused,
  },
  { what: "exit 1", end: { exit_code: 1 }, expected: (event) => warned(event, "exit code 1") },
  {
    what: "exit 1 beside an answer, which does not count",
    end: { exit_code: 1, stderr: "oops", ...json({ decision: "block", reason: "x" }) },
    expected: (event) => warned(event, "exit code 1: oops"),
  },
  {
    what: "no end in time",
    end: { exit_code: null, problem: "it took longer than 5 ms" },
    expected: (event) => guarded(event, "it took longer than 5 ms"),
  },
  {
    what: "a kill",
    end: { exit_code: null, problem: "it was ended by SIGKILL", ...json({ decision: "approve" }) },
    expected: (event) => guarded(event, "it was ended by SIGKILL"),
  },
];

const table = CLAUDE_EVENTS.flatMap((event) => ROWS.map((row) => ({ event, ...row })));

test.each(table)("$event: $what", ({ event, end, expected }) => {
  const given = typeof end === "function" ? end(event) : end;
  const whole = { exit_code: 0, stdout: "", stderr: "", ...given };
  expect(toOutcome(event, whole, (text) => text)).toEqual(expected(event));
});

test("what a hook says to the model is bounded and without secrets", () => {
  const end = { exit_code: 0, stdout: `secret ${"x".repeat(50_000)}`, stderr: "" };
  const { context = "" } = toOutcome("SessionStart", end, (text) => text.replaceAll("secret", "[redacted]"));
  expect(context.length).toBe(10_000);
  expect(context.startsWith("[redacted] x")).toBe(true);
});
