import { randomUUID } from "node:crypto";
import type { PermissionPrompter } from "@octant/runtime";
import type { ApiClient, StreamEvent } from "./api-client.ts";
import { ApiError } from "./api-error.ts";
import type { Compacted, LiveEvent, RunEnded } from "./events.ts";
import { createDeadline, type LimitReached } from "./limits.ts";
import {
  type AssistantMessage,
  type ToolCallPart,
  textParts,
  toolCallsOf,
  type UserPart,
} from "./messages.ts";
import { createRepeatedCalls, isLoop, isRepeated, repeatedNote } from "./repeated-calls.ts";
import { runCalls } from "./run-calls.ts";
import type { Session } from "./session.ts";
import type { ChangedFile, ToolExecutor, ToolResult } from "./tool-executor.ts";
import { costOf, tokensOf } from "./usage.ts";

export interface LoopOptions {
  readonly session: Session;
  readonly client: ApiClient;
  readonly tools: ToolExecutor;
  readonly prompter: PermissionPrompter;
  /** Asked at every step. */
  overLimit(): LimitReached | undefined;
  /** A stream or tool that exceeds it is stopped. */
  readonly maxTimeMs?: number | undefined;
  readonly signal: AbortSignal;
  /** JSON Schema of the last answer. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** Takes the messages typed while the agent was working. */
  takeQueued(): readonly (readonly UserPart[])[];
  /** Whether the conversation is too long for another request. */
  needsCompaction(): boolean;
  /** Resolves with false when nothing could be shortened. */
  compact(cause: Compacted["cause"], signal: AbortSignal): Promise<boolean>;
}

type Ending = Pick<RunEnded, "reason" | "message">;

/**
 * Asks the model, runs its calls, and asks again, until it is done or a limit is reached. It always ends with one
 * `end` event, and leaves a conversation that a provider accepts.
 */
export async function runLoop(options: LoopOptions): Promise<RunEnded> {
  const { session } = options;
  let bug: unknown;
  using deadline = createDeadline(options.maxTimeMs);
  const signal = AbortSignal.any([options.signal, deadline.signal]);
  const ending = await untilEnd({ ...options, signal }).catch((cause): Ending => {
    if (options.signal.aborted) return { reason: "cancelled", message: "the person stopped the run" };
    // The deadline's reason is the limit.
    if (deadline.signal.aborted) return toEnding(deadline.signal.reason as LimitReached);
    if (!(cause instanceof ApiError)) bug = cause;
    return { reason: "failed", message: cause instanceof Error ? cause.message : String(cause) };
  });
  const { usage, cost, turns } = session.conversation;
  const end: RunEnded = { type: "end", ...ending, usage, cost, turns };
  await session.append(end);
  if (bug !== undefined) throw bug;
  return end;
}

async function untilEnd(options: LoopOptions): Promise<Ending> {
  const { session, signal } = options;
  const calling = createCalling(options);
  // A resumed run may have unanswered calls.
  await settleOpenCalls(session);
  for (;;) {
    signal.throwIfAborted();
    for (const content of options.takeQueued()) await say(session, "person", content);
    const reached = options.overLimit();
    if (reached) return toEnding(reached);
    await offerNewTools(options);
    if (options.needsCompaction()) await options.compact("budget", signal);
    const answer = await ask(options);
    const calls = toolCallsOf(answer.message);
    if (calls.length > 0) {
      const loop = await calling.run(calls);
      if (loop) return loop;
      continue;
    }
    if (answer.stop === "pause") continue;
    const ending = endingOf(answer);
    const queued = options.takeQueued();
    if (ending.reason !== "done" || queued.length === 0) return ending;
    for (const content of queued) await say(session, "person", content);
  }
}

const toEnding = ({ reason, message }: LimitReached): Ending => ({ reason, message });

/** New tools are appended, so that earlier requests stay a prefix. */
async function offerNewTools({ session, tools }: LoopOptions): Promise<void> {
  const known = new Set(session.conversation.tools.map(({ name }) => name));
  const added = tools.definitions().filter(({ name }) => !known.has(name));
  if (added.length > 0) await session.append({ type: "tools_added", tools: added });
}

type Answer = Extract<StreamEvent, { type: "done" }>;

/** One stored answer of the model. A conversation that is too long for the provider is compacted once. */
async function ask(options: LoopOptions): Promise<Answer> {
  try {
    return await askOnce(options);
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.failure !== "context_length") throw cause;
    if (!(await options.compact("context_length", options.signal)))
      throw new ApiError(
        "context_length",
        `${cause.message}; nothing can be left out: send less, or use a model with a larger context window`,
        { cause },
      );
    return askOnce(options);
  }
}

async function askOnce({ session, client, signal, outputSchema }: LoopOptions): Promise<Answer> {
  const { system, tools, messages } = session.conversation;
  const request = {
    system,
    tools,
    messages,
    cache_key: session.id,
    ...(outputSchema && { output_schema: outputSchema }),
  };
  for await (const event of client.send(request, signal)) {
    if (event.type !== "done") {
      session.publish(toLiveEvent(event));
      continue;
    }
    const { stop, usage, detail } = event;
    const message = withOwnIds(event.message, session.conversation.callIds);
    await session.append({
      type: "message",
      message,
      stop,
      usage,
      cost: costOf(usage, client.model.price),
      ...(detail !== undefined && { detail }),
      context: { used_tokens: tokensOf(usage), size_tokens: client.model.context_tokens },
    });
    return { ...event, message };
  }
  signal.throwIfAborted();
  throw new ApiError("broken", "the stream ended before the answer was complete");
}

/** Some servers give several calls the same id; their results could not be told apart. */
function withOwnIds(message: AssistantMessage, before: ReadonlySet<string>): AssistantMessage {
  const used = new Set<string>();
  const content = message.content.map((part) => {
    if (part.type !== "tool_call") return part;
    const isFree = part.id !== "" && !before.has(part.id) && !used.has(part.id);
    const id = isFree ? part.id : `call_${randomUUID()}`;
    used.add(id);
    return { ...part, id };
  });
  return { ...message, content };
}

function toLiveEvent(event: Exclude<StreamEvent, { type: "done" }>): LiveEvent {
  switch (event.type) {
    case "text":
      return { type: "text_delta", text: event.text };
    case "thinking":
      return { type: "thinking_delta", text: event.text };
    case "call_begin":
      return { type: "call_delta", call_id: event.call_id, name: event.name, text: "" };
    case "call_arguments":
      return { type: "call_delta", call_id: event.call_id, text: event.text };
    case "retry":
      return event;
  }
}

/** Runs calls, reports to the model what its edits broke, and detects loops. */
function createCalling(options: LoopOptions) {
  const { session, tools, signal } = options;
  const repeated = createRepeatedCalls();
  return {
    async run(calls: readonly ToolCallPart[]): Promise<Ending | undefined> {
      const changed: ChangedFile[] = [];
      let loop: string | undefined;
      const finish = (call: ToolCallPart, result: ToolResult): ToolResult => {
        changed.push(...(result.facts?.changed ?? []));
        const count = repeated.count(call, result.content);
        if (isLoop(count)) loop = call.name;
        if (!isRepeated(count)) return result;
        return { ...result, content: [...result.content, ...textParts(repeatedNote(count))] };
      };
      await runCalls(calls, { ...options, finish });
      signal.throwIfAborted();
      if (loop !== undefined)
        return {
          reason: "repeated_calls",
          message: `the model repeated the same call of ${loop} with the same result; say what it should do instead`,
        };
      const reports = changed.length > 0 ? await tools.afterEdits?.(changed, signal) : undefined;
      if (reports !== undefined) await say(session, "context", textParts(reports));
      return undefined;
    },
  };
}

const say = (session: Session, origin: "person" | "context", content: readonly UserPart[]) =>
  session.append({ type: "user", origin, content });

/** Calls without a result: the process died, or could not store their results. */
async function settleOpenCalls(session: Session): Promise<void> {
  for (const { call, began } of session.conversation.pendingCalls) {
    const message = began
      ? `${call.name} was running when the agent stopped; it may or may not have had its effect, so look before you repeat it`
      : `${call.name} was not started before the agent stopped; call it again if it is still wanted`;
    await session.append({
      type: "tool_ended",
      call_id: call.id,
      name: call.name,
      content: textParts(`INTERRUPTED: ${message}`),
      is_error: true,
      code: "INTERRUPTED",
      duration_ms: 0,
    });
  }
}

function endingOf({ stop, detail }: Answer): Ending {
  if (stop === "refusal")
    return {
      reason: "refused",
      message: `the model refused${detail ? `: ${detail}` : ""}; ask in another way`,
    };
  if (stop === "output_limit")
    return {
      reason: "output_limit",
      message: "the answer reached the model's output limit; ask it to go on",
    };
  return { reason: "done" };
}
