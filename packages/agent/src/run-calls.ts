import {
  type Ask,
  type ErrorCode,
  hintFor,
  isFields,
  nearestName,
  type Question,
  QuestionSettled,
  ToolError,
} from "@octant/core";
import { type ToolCallPart, textParts } from "./messages.ts";
import type { Session } from "./session.ts";
import type { ToolCall, ToolExecutor, ToolResult } from "./tool-executor.ts";

/** A tool that ignores its cancellation is abandoned after this. */
const GRACE_MS = 300;

export interface RunCallsOptions {
  readonly session: Session;
  readonly tools: ToolExecutor;
  readonly ask: Ask | undefined;
  readonly signal: AbortSignal;
}

/** May add to the text for the model. */
type Finish = (call: ToolCallPart, result: ToolResult) => ToolResult;

/**
 * Runs the calls of one answer: reading ones and those that may in parallel, writing ones one after the other and alone. Every call gets
 * exactly one result, even when cancelled.
 */
export async function runCalls(
  calls: readonly ToolCallPart[],
  options: RunCallsOptions,
  finish: Finish,
): Promise<void> {
  for (const batch of toBatches(calls.map((part) => toPlan(part, options.tools))))
    await Promise.all(batch.map((plan) => runOne(plan, options, finish)));
}

type Plan =
  | { readonly part: ToolCallPart; readonly call: ToolCall; readonly isParallel: boolean }
  | { readonly part: ToolCallPart; readonly refused: ToolResult; readonly isParallel: true };

function toPlan(part: ToolCallPart, tools: ToolExecutor): Plan {
  const names = tools.definitions().map(({ name }) => name);
  const input = parseArguments(part.arguments);
  const asked = { id: part.id, name: part.name, input: input instanceof ToolError ? {} : input };
  const call = tools.resolve?.(asked) ?? asked;
  if (!names.includes(call.name) && !tools.knows?.(call.name))
    return { part, refused: unknownTool(part.name, names), isParallel: true };
  if (input instanceof ToolError)
    return { part, refused: toFailure(input.code, input.message), isParallel: true };
  const { reads_only, parallel = false } = tools.outline(call);
  return { part, call, isParallel: reads_only || parallel };
}

function toBatches(plans: readonly Plan[]): Plan[][] {
  const batches: Plan[][] = [];
  let open: Plan[] | undefined;
  for (const plan of plans) {
    if (plan.isParallel && open) open.push(plan);
    else batches.push([plan]);
    open = plan.isParallel ? batches.at(-1) : undefined;
  }
  return batches;
}

async function runOne(plan: Plan, options: RunCallsOptions, finish: Finish): Promise<void> {
  const { session, signal } = options;
  const started = performance.now();
  const waited: Waited = { ms: 0 };
  const { part } = plan;
  const result =
    "refused" in plan
      ? plan.refused
      : signal.aborted
        ? toFailure("CANCELLED", `${part.name} was not started: the run was stopped`)
        : await execute(plan.call, options, waited);
  await session.append({
    type: "tool_ended",
    call_id: part.id,
    name: part.name,
    ...finish(part, bounded(result)),
    duration_ms: Math.max(0, Math.round(performance.now() - started - waited.ms)),
  });
}

/** How long the call waited for the person, which says nothing about the call. */
interface Waited {
  ms: number;
}

async function execute(call: ToolCall, options: RunCallsOptions, waited: Waited): Promise<ToolResult> {
  const { session, tools, signal } = options;
  const { id: call_id, name, input } = call;
  const outline = tools.outline(call);
  const began = session.append({ type: "tool_began", call_id, name, input, ...outline });
  // After a crash nobody misses the beginning of a call that only reads, so that one does not wait for the disk.
  if (!outline.reads_only) await began;
  const stopped = Promise.withResolvers<ToolResult>();
  const cancelled = toFailure("CANCELLED", `${name} was stopped with the run; it may have had effects`);
  const stop = () => setTimeout(() => stopped.resolve(cancelled), GRACE_MS).unref();
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const running = tools.execute(call, {
      sessionId: session.id,
      signal,
      ask: recordQuestions(options.ask, session, call_id, waited),
      onProgress: (update) =>
        void began.then(
          () => session.publish({ type: "tool_progress", call_id, ...update }),
          () => {},
        ),
    });
    const [result] = await Promise.all([Promise.race([running, stopped.promise]), began]);
    return result;
  } catch (cause) {
    if (signal.aborted) return cancelled;
    if (cause instanceof ToolError) return toFailure(cause.code, cause.message);
    return toFailure("UPSTREAM_ERROR", `${name} failed: ${cause instanceof Error ? cause.message : cause}`);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Records the questions of a call and their outcomes in the session's events, wherever they were answered. */
const recordQuestions =
  (ask: Ask | undefined, session: Session, call_id: string, waited: Waited): Ask =>
  async (question, signal) => {
    const asked = performance.now();
    const ids = { permission_id: question.question_id, call_id };
    await session.append({ type: "permission_asked", ...ids, ...toAsked(question) });
    const ended = () => {
      waited.ms += performance.now() - asked;
      const { answer, reason } =
        signal.reason instanceof QuestionSettled ? signal.reason.outcome : { answer: "cancelled" as const };
      const why = reason === undefined ? {} : { reason };
      // A log that cannot be written ends the run itself.
      session.append({ type: "permission_answered", ...ids, answer, ...why }).catch(() => {});
    };
    if (signal.aborted) ended();
    signal.addEventListener("abort", ended, { once: true });
    return ask?.({ ...question, call_id }, signal);
  };

function toAsked(question: Question) {
  const { kind, action } = question;
  if (kind !== "permission") return { kind, action, input: {}, reason: question.message };
  const { input, reason, tier, preview, always } = question;
  return {
    action,
    input,
    reason,
    tier,
    ...(preview !== undefined && { preview }),
    ...(always && { always: always.rule }),
  };
}

/** No result of any tool may fill the conversation. */
const MAX_TEXT_CHARS = 200_000;

function bounded(result: ToolResult): ToolResult {
  const content = result.content.map((part) => {
    if (part.type !== "text" || part.text.length <= MAX_TEXT_CHARS) return part;
    const left = part.text.length - MAX_TEXT_CHARS;
    return {
      ...part,
      text: `${part.text.slice(0, MAX_TEXT_CHARS).toWellFormed()}\n[${left} more characters were left out]`,
    };
  });
  return { ...result, content };
}

/** A failed call as the model reads it. */
export const toFailure = (code: ErrorCode, message: string): ToolResult => ({
  content: textParts(`${code}: ${message}`),
  is_error: true,
  code,
});

/** Servers may offer hundreds of tools. */
const MAX_NAMES = 40;

function unknownTool(name: string, names: readonly string[]): ToolResult {
  if (names.length === 0)
    return toFailure("UNKNOWN_TOOL", `there is no tool '${name}': you have no tools here; answer in words`);
  const instead = hintFor(name);
  if (instead !== undefined) return toFailure("UNKNOWN_TOOL", `there is no tool '${name}': ${instead}`);
  const near = nearestName(name, names);
  const hint = near === undefined ? "" : `; did you mean '${near}'?`;
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : "";
  const listed = `${names.slice(0, MAX_NAMES).join(", ")}${more}`;
  return toFailure("UNKNOWN_TOOL", `there is no tool '${name}'${hint}; tools: ${listed}`);
}

/** Models may leave the arguments of a call without parameters empty. */
export function parseArguments(text: string): Readonly<Record<string, unknown>> | ToolError {
  if (text.trim() === "") return {};
  const refuse = (message: string) =>
    new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "", message }] });
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
    return refuse("the arguments of a call are one JSON object; call again with an object");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return refuse(
      `the arguments are not valid JSON (${reason}); the call did not run, so call again with the whole object`,
    );
  }
}
