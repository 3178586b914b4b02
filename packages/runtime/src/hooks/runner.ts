import type { Redact } from "../redact/redactor.ts";
import type { CallHook } from "./hook.ts";
import { type HookFacts, type HookInput, type HookPlace, runCommand, toHookInput } from "./run-command.ts";

export interface HookVerdict {
  readonly outcome: "allow" | "deny";
  /** Whether the hook denied the call, or failed. */
  readonly failed: boolean;
  /** One line without secrets. */
  readonly reason: string;
}

export interface HookRunnerOptions extends HookPlace {
  readonly redact: Redact;
  /** Receives a line for every failed hook. */
  log(line: string): void;
  readonly closeMs?: number;
}

const CLOSE_MS = 10_000;
/** Limit of calls with pending post-hooks. */
const MAX_WAITING = 1_000;

export type HookRunner = ReturnType<typeof createHookRunner>;

/** Runs hooks: those before a call are waited for, those after it have a queue of their own. */
export function createHookRunner(options: HookRunnerOptions) {
  const { redact, log, closeMs = CLOSE_MS } = options;
  const closing = new AbortController();
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();

  const logFailure = ({ event, tool_pattern }: CallHook, name: string, what: string, stderr = "") => {
    const printed = stderr === "" ? "" : `; it printed: ${toReason(stderr, redact)}`;
    log(`the ${event} hook for ${tool_pattern} failed at ${name}: ${toReason(what, redact)}${printed}`);
  };
  const runOne = async (hook: CallHook, name: string, input: HookInput) => {
    const end = await runCommand(options, hook, input, closing.signal);
    if (end.kind === "allow") return;
    logFailure(hook, name, end.kind === "deny" ? "exit code 2" : end.what, end.stderr);
  };
  const runAll = async (hooks: readonly CallHook[], facts: HookFacts) => {
    // The answer goes out first.
    await new Promise(setImmediate);
    const input = toHookInput(facts);
    for (const hook of hooks) {
      try {
        await runOne(hook, facts.name, input);
      } catch (cause) {
        const why = closing.signal.aborted ? "the server was closed" : cause;
        logFailure(hook, facts.name, String(why));
      }
    }
  };

  return {
    /** Rejects only when the signal ends it. */
    async ask(hook: CallHook, facts: HookFacts, signal: AbortSignal): Promise<HookVerdict> {
      const end = await runCommand(options, hook, toHookInput(facts), signal);
      if (end.kind === "allow") return { outcome: "allow", failed: false, reason: "" };
      if (end.kind === "deny")
        return { outcome: "deny", failed: false, reason: toReason(end.stderr, redact) };
      logFailure(hook, facts.name, end.what, end.stderr);
      return { outcome: "deny", failed: true, reason: toReason(end.what, redact) };
    },
    /** Returns at once. The hooks run one after the other, those of earlier calls first. */
    notify(hooks: readonly CallHook[], facts: HookFacts): void {
      if (waiting >= MAX_WAITING) {
        for (const hook of hooks) logFailure(hook, facts.name, `${waiting} calls wait for hooks already`);
        return;
      }
      waiting += 1;
      last = last
        .then(() => runAll(hooks, facts))
        .finally(() => {
          waiting -= 1;
        });
    },
    /** Waits briefly for pending post-hooks, then kills them. */
    async close(): Promise<void> {
      const timer = setTimeout(() => closing.abort(), closeMs);
      await last;
      clearTimeout(timer);
    },
  };
}

const MAX_REASON_CHARS = 1_000;
const BETWEEN_WORDS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
/** Characters that a terminal would obey or hide. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}]+/gu;

/** A hook's output as one safe line. */
export function toReason(printed: string, redact: Redact): string {
  // Removed first, so that hidden characters cannot disguise a secret.
  const line = redact(printed.replace(BETWEEN_WORDS, " ").replace(UNSEEN, "").trim());
  return line.length <= MAX_REASON_CHARS ? line : `${line.slice(0, MAX_REASON_CHARS).toWellFormed()}…`;
}
