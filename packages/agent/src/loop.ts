import { hash, randomUUID } from "node:crypto";
import type { Ask } from "@octant/core";
import type { Answer, ApiClient } from "./api-client.ts";
import { ApiError } from "./api-error.ts";
import type { Compactor } from "./compaction/compactor.ts";
import type { RunEnded } from "./events.ts";
import { createDeadline, type LimitReached } from "./limits.ts";
import {
  type AssistantMessage,
  type ToolCallPart,
  textOf,
  textParts,
  toolCallsOf,
  type UserPart,
} from "./messages.ts";
import { runCalls, toFailure } from "./run-calls.ts";
import type { Session } from "./session.ts";
import type { SessionHooks } from "./session-hooks.ts";
import { submitPrompt, tellOutcome } from "./tell-outcome.ts";
import type { ChangedFile, ToolExecutor } from "./tool-executor.ts";
import { costOf, tokensOf } from "./usage.ts";
import { isPausedSearch } from "./web-search.ts";
import { createWholeCharacters } from "./whole-characters.ts";

export interface LoopOptions {
  readonly session: Session;
  /** Read for every request. */
  client(): ApiClient;
  readonly tools: ToolExecutor;
  readonly ask: Ask | undefined;
  readonly compactor: Compactor;
  /** Asked at every step. */
  overLimit(): LimitReached | undefined;
  /** A stream or tool that exceeds it is stopped. */
  readonly maxTimeMs: number | undefined;
  readonly signal: AbortSignal;
  /** JSON Schema of the last answer. */
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  readonly hooks: SessionHooks;
  /** Takes the messages typed while the agent was working. */
  takeQueued(): readonly (readonly UserPart[])[];
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
    if (options.signal.aborted) return { reason: "cancelled", message: "the run was stopped" };
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
  const repeated = createRepeatedCalls();
  let cuts = 0;
  let ends = 0;
  for (;;) {
    signal.throwIfAborted();
    await takeMessages(options);
    const reached = options.overLimit();
    if (reached) return toEnding(reached);
    await offerNewTools(options);
    if (options.compactor.isNeeded(options.client()))
      await options.compactor.compact(options.client(), "budget", signal);
    const answer = await request(options);
    const calls = toolCallsOf(answer.message);
    const isWhole = answer.stop !== "output_limit" && answer.stop !== "refusal";
    cuts = isWhole ? 0 : cuts + 1;
    if (calls.length > 0 && !isWhole) {
      await refuseCalls(calls, answer, session);
      if (answer.stop === "output_limit" && cuts < MAX_CUTS) continue;
    } else if (calls.length > 0) {
      const loop = await callTools(calls, repeated, options);
      if (loop) return loop;
      continue;
    }
    // A search that the provider paused continues when its answer is sent back unchanged.
    if (isPausedSearch(answer)) continue;
    if (answer.stop === "pause") {
      await say(session, "context", textParts("[Continue.]"));
      continue;
    }
    const ending = endingOf(answer);
    if (ending.reason !== "done") return ending;
    const queued = await takeMessages(options);
    if (queued === 0 && !(await goesOn(answer.message, ends++, options))) return ending;
  }
}

/** Messages of the person and notes of hooks that wait for the next step; returns their number. */
async function takeMessages({ session, hooks, takeQueued, signal }: LoopOptions): Promise<number> {
  const [notes, queued] = [hooks.takeNotes(), takeQueued()];
  await tellOutcome(session, { messages: hooks.takeWarnings() });
  for (const note of notes) await say(session, "context", textParts(note));
  for (const content of queued) {
    const refused = await submitPrompt(session, hooks, content, signal);
    if (refused !== undefined) await tellOutcome(session, { messages: [refused] });
  }
  return notes.length + queued.length;
}

/** A hook may refuse the end; one that always does is not asked for ever. */
const MAX_REFUSED_ENDS = 20;

/** Whether a hook has something more to do. */
async function goesOn(message: AssistantMessage, refused: number, options: LoopOptions): Promise<boolean> {
  const { session, hooks, signal } = options;
  if (refused >= MAX_REFUSED_ENDS) return false;
  const fields = { stop_hook_active: refused > 0, last_assistant_message: textOf(message.content) };
  const { block, stop, ...told } = await hooks.fire("Stop", { fields }, signal);
  await tellOutcome(session, told);
  if (block === undefined || stop !== undefined) return false;
  await say(session, "context", textParts(block));
  return true;
}

/** The model may try again with smaller calls; one that does not is stopped. */
const MAX_CUTS = 3;

/** An answer that was cut or refused may have half a call in it, so none of its calls run. */
async function refuseCalls(
  calls: readonly ToolCallPart[],
  { stop }: Answer,
  session: Session,
): Promise<void> {
  const why =
    stop === "refusal"
      ? "the answer was refused"
      : "the answer reached the output limit before it was complete; call again, with shorter arguments or in parts";
  for (const { id: call_id, name } of calls) {
    const failure = toFailure("CANCELLED", `${name} was not run: ${why}`);
    await session.append({ type: "tool_ended", call_id, name, ...failure, duration_ms: 0 });
  }
}

const toEnding = ({ reason, message }: LimitReached): Ending => ({ reason, message });

/** New tools are appended, so that earlier requests stay a prefix. */
async function offerNewTools({ session, tools }: LoopOptions): Promise<void> {
  const known = new Set(session.conversation.tools.map(({ name }) => name));
  const added = tools.definitions().filter(({ name }) => !known.has(name));
  if (added.length > 0) await session.append({ type: "tools_added", tools: added });
}

/** One stored answer of the model. A conversation that is too long for the provider is compacted once. */
async function request(options: LoopOptions): Promise<Answer> {
  try {
    return await requestOnce(options);
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.failure !== "context_length") throw cause;
    if (!(await options.compactor.compact(options.client(), "context_length", options.signal)))
      throw new ApiError(
        "context_length",
        `${cause.message}; nothing can be left out: send less, or use a model with a larger context window`,
        { cause },
      );
    return requestOnce(options);
  }
}

async function requestOnce({ session, signal, outputSchema, ...options }: LoopOptions): Promise<Answer> {
  const client = options.client();
  const { system, tools, messages } = session.conversation;
  const content = {
    system,
    tools,
    messages,
    cache_key: session.id,
    ...(outputSchema && { output_schema: outputSchema }),
  };
  let shown = "";
  const whole = createWholeCharacters();
  try {
    for await (const part of client.send(content, signal)) {
      const event = whole(part);
      if (event.type === "done") return await storeAnswer(event, session, client);
      if (event.type === "text_delta") shown += event.text;
      if (event.type === "retry") shown = "";
      session.publish(event);
    }
    signal.throwIfAborted();
    throw new ApiError("broken", "the stream ended before the answer was complete");
  } catch (cause) {
    if (signal.aborted && shown !== "") await session.append({ type: "stopped", text: shown });
    throw cause;
  }
}

async function storeAnswer(answer: Answer, session: Session, { model }: ApiClient): Promise<Answer> {
  const { stop, usage, detail } = answer;
  const message = withOwnIds(answer.message, session.conversation.callIds);
  await session.append({
    type: "message",
    message,
    stop,
    usage,
    cost: costOf(usage, model.price),
    ...(detail !== undefined && { detail }),
    context: { used_tokens: tokensOf(usage), size_tokens: model.context_tokens },
  });
  return { ...answer, message };
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

/** Runs calls, reports to the model what its edits broke, and ends the run when the model is in a loop. */
async function callTools(
  calls: readonly ToolCallPart[],
  countRepeated: CountRepeated,
  options: LoopOptions,
): Promise<Ending | undefined> {
  const { session, tools, signal } = options;
  const changed: ChangedFile[] = [];
  let loop: string | undefined;
  await runCalls(calls, options, (call, result) => {
    changed.push(...(result.facts?.changed ?? []));
    const count = countRepeated(call, result.content);
    if (count >= STOP_AT) loop = call.name;
    if (count < WARN_AT) return result;
    return { ...result, content: [...result.content, ...textParts(repeatedNote(count))] };
  });
  signal.throwIfAborted();
  if (loop !== undefined)
    return {
      reason: "repeated_calls",
      message: `the model repeated the same call of ${loop} with the same result; say what it should do instead`,
    };
  const reports = changed.length > 0 ? await tools.afterEdits?.(changed, signal) : undefined;
  if (reports !== undefined) await say(session, "context", textParts(reports));
  return undefined;
}

/** The number of recent calls to compare. */
const WINDOW = 24;
/** The model is warned. */
const WARN_AT = 3;
/** The run ends. */
const STOP_AT = 6;

/** How often this call had this result recently, including this time. */
type CountRepeated = (call: ToolCallPart, content: readonly UserPart[]) => number;

function createRepeatedCalls(): CountRepeated {
  const recent: string[] = [];
  return (call, content) => {
    const key = hash("sha256", JSON.stringify([call.name, call.arguments, content]), "base64url");
    recent.push(key);
    if (recent.length > WINDOW) recent.shift();
    return recent.filter((one) => one === key).length;
  };
}

const repeatedNote = (count: number): string =>
  `\n\n[This exact call has had this exact result ${count} times. Repeating it changes nothing; ` +
  `after ${STOP_AT} times the run ends. Try something else, or say what is missing.]`;

const say = (session: Session, origin: "person" | "context", content: readonly UserPart[]) =>
  session.append({ type: "user", origin, content });

function endingOf({ stop, detail }: Answer): Ending {
  if (stop === "refusal")
    return {
      reason: "refused",
      message: `the model refused${detail ? `: ${detail}` : ""}; ask in another way`,
    };
  if (stop === "output_limit")
    return {
      reason: "output_limit",
      message: "the answer reached the model's output limit; ask it to continue",
    };
  return { reason: "done" };
}
