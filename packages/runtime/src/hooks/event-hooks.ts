import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Step, ToolError } from "@octant/core";
import type { Exchange } from "@octant/host";
import { nameOf } from "../call-name.ts";
import type { PolicyCall } from "../permissions/facts.ts";
import type { Redact } from "../redact/redactor.ts";
import { type ClaudeCall, toClaudeCalls, toClaudeName } from "./claude-call.ts";
import { toMatcher } from "./concerns-call.ts";
import { type ClaudeEvent, type ClaudeHook, type HookSettings, isCallHook } from "./hook.ts";
import { type EventOutcome, toOutcome } from "./hook-answer.ts";
import { type HookInput, type HookPlace, runProgram } from "./run-command.ts";
import { type StatusLineSettings, toStatusLines } from "./status-line.ts";

export interface EventFacts {
  readonly session: string;
  /** The value that a matcher is compared with. */
  readonly subject?: string;
  /** The fields of the event. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface EventHooksOptions extends HookPlace {
  readonly statusLine?: StatusLineSettings | null;
  readonly hooks: readonly HookSettings[];
  readonly redact: Redact;
  /** The absolute paths of the files that a call names. */
  filesOf(call: PolicyCall): readonly string[];
  log(line: string): void;
}

export type EventHooks = ReturnType<typeof createEventHooks>;

/** Hooks with the events and the JSON of Claude Code. They run one after the other, until one refuses. */
export function createEventHooks(options: EventHooksOptions) {
  const hooks = options.hooks
    .filter((hook): hook is ClaudeHook => !isCallHook(hook))
    .map((hook) => ({ hook, matches: toMatcher(hook.matcher) }));
  const notes = new Map<string, string[]>();
  const warnings = new Map<string, string[]>();
  const transcripts = new Map<string, () => string>();
  const cwd = options.confinement.start;

  const openTranscript = async (session: string): Promise<Exchange | undefined> => {
    const transcript = transcripts.get(session);
    if (!transcript) return undefined;
    const exchange = await options.processes.openExchange();
    writeFileSync(join(exchange.path, TRANSCRIPT), transcript(), { mode: 0o600 });
    return exchange;
  };

  const fire = async (event: ClaudeEvent, facts: EventFacts, signal: AbortSignal): Promise<EventOutcome> => {
    const found = hooks.filter(({ hook, matches }) => hook.event === event && matches(facts.subject ?? ""));
    const context: string[] = [];
    const messages: string[] = [];
    if (found.length === 0) return {};
    using exchange = await openTranscript(facts.session);
    for (const { hook } of found) {
      const input = toInput(event, facts, cwd, exchange);
      const outcome = toOutcome(event, await runProgram(options, hook, input, signal), options.redact);
      messages.push(...(outcome.messages ?? []));
      if (outcome.context) context.push(outcome.context);
      const { block, stop, ask } = outcome;
      if (block !== undefined || stop !== undefined || ask !== undefined)
        return { ...outcome, ...joined(context, messages) };
    }
    return joined(context, messages);
  };

  /** Before and after calls. What a hook says about an answer waits for the session of the call. */
  const step: Step = async (call, ctx, next) => {
    const name = nameOf(call);
    const subject = toClaudeName(name);
    const isConcerned = hooks.some(
      ({ hook, matches }) =>
        (hook.event === "PreToolUse" || hook.event === "PostToolUse") && matches(subject),
    );
    if (!isConcerned || ctx.caller.isPerson) return next();
    const { input, act: action } = call;
    const calls = toClaudeCalls(name, input, options.filesOf({ name, input, action }));
    const session = ctx.caller.id;
    const tool_use_id = ctx.traceId;
    const fireOn = (event: ClaudeEvent, one: ClaudeCall, more: object = {}) =>
      fire(event, { session, subject, fields: { ...one, tool_use_id, ...more } }, ctx.signal);
    const keep = ({ context, messages = [] }: EventOutcome) => {
      // The person at an agent's session reads them there.
      if (transcripts.has(session)) for (const line of messages) addTo(warnings, session, line);
      else for (const line of messages) options.log(line);
      if (context) addTo(notes, session, context);
    };
    for (const one of calls) {
      const before = await fireOn("PreToolUse", one);
      keep(before);
      const refusal =
        before.block ?? before.stop ?? (before.ask && (await refusedByPerson(before.ask, ctx, name)));
      ctx.decided({
        step: "hook",
        outcome: refusal === undefined ? "allow" : "deny",
        rule: "PreToolUse",
        ...(refusal && { reason: refusal }),
      });
      if (refusal !== undefined)
        throw new ToolError("PERMISSION_DENIED", `${name} is denied by a hook: ${refusal}`, {
          by: "hook",
          rule: "PreToolUse",
          reason: refusal,
        });
    }
    const output = await next();
    for (const one of calls) keep(await fireOn("PostToolUse", one, { tool_response: output }));
    return output;
  };

  return {
    fire,
    step,
    /** The lines that the person's script prints for the status of a session; none without a script. */
    async statusLine(facts: EventFacts, signal: AbortSignal): Promise<readonly string[]> {
      if (!options.statusLine) return [];
      using exchange = await openTranscript(facts.session);
      const input = toInput("Status", facts, cwd, exchange);
      return toStatusLines(await runProgram(options, options.statusLine, input, signal), options.redact);
    },
    /** Hooks of this session read its conversation in a file, as lines of JSON. */
    setTranscript(session: string, transcript: () => string): void {
      transcripts.set(session, transcript);
    },
    /** Returns the hooks' notes for the model of this session since the last call. */
    takeNotes: (session: string): readonly string[] => takeFrom(notes, session),
    /** Returns the hooks' warnings for the person of this session since the last call. */
    takeWarnings: (session: string): readonly string[] => takeFrom(warnings, session),
  };
}

const MAX_NOTES = 20;

const addTo = (lines: Map<string, string[]>, session: string, line: string): void =>
  void lines.set(session, [...(lines.get(session) ?? []), line].slice(-MAX_NOTES));

function takeFrom(lines: Map<string, string[]>, session: string): readonly string[] {
  const taken = lines.get(session) ?? [];
  lines.delete(session);
  return taken;
}

const joined = (context: readonly string[], messages: readonly string[]): EventOutcome => ({
  ...(context.length > 0 && { context: context.join("\n") }),
  ...(messages.length > 0 && { messages }),
});

type Asking = Parameters<Step>[1];

/** undefined: the person allows it. */
async function refusedByPerson(reason: string, ctx: Asking, name: string): Promise<string | undefined> {
  const message = `A hook asks you to decide about ${name}: ${reason}`;
  const answer = await ctx.ask({ kind: "confirmation", message, yes: "Allow" });
  return answer.answer === "accept" ? undefined : reason;
}

const TRANSCRIPT = "transcript.jsonl";

function toInput(
  event: ClaudeEvent | "Status",
  { session, fields }: EventFacts,
  cwd: string,
  exchange: Exchange | undefined,
): HookInput {
  const transcript_path = exchange ? join(exchange.inside, TRANSCRIPT) : "";
  const facts = { session_id: session, transcript_path, cwd, hook_event_name: event, ...fields };
  return {
    ...(exchange && { exchange }),
    env: { CLAUDE_PROJECT_DIR: cwd, HANZO_SESSION_ID: session },
    stdin: Buffer.from(JSON.stringify(facts)),
  };
}
