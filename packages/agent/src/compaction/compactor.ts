import type { ApiClient } from "../api-client.ts";
import { ApiError } from "../api-error.ts";
import type { Compacted } from "../events.ts";
import { type Message, textOf, textParts } from "../messages.ts";
import type { Session } from "../session.ts";
import { NO_HOOKS, type SessionHooks } from "../session-hooks.ts";
import { tellOutcome } from "../tell-outcome.ts";
import { contextTokens, messagesTokens, prefixTokens } from "../tokens.ts";
import { costOf, NO_USAGE, type Usage } from "../usage.ts";
import { type CompactionResult, compactMessages, findCut, withoutResults } from "./compact.ts";

export interface CompactionSettings {
  /** The limit of a conversation; the model's own when absent. */
  readonly max_tokens?: number;
  readonly reserve_recent?: number;
}

const DEFAULT_RESERVE = 3;
/** The share of the budget above which the conversation is compacted before the next request. */
const THRESHOLD = 0.9;
/** The share of the budget that may remain, to leave room for work. */
const TARGET = 0.6;
const SUMMARY_TOKENS = 4_000;
const MESSAGES_BETWEEN = 4;
const INSTRUCTION = `Stop here and write a summary of the conversation so far, for yourself: it will replace the messages above. Call no tools. Say what was found out, what was decided and why, what was done and checked, what failed, and what comes next. Keep names, paths, commands and numbers exact. At most 600 words.`;

export class Compactor {
  readonly #session: Session;
  readonly #settings: CompactionSettings;
  readonly #hooks: SessionHooks;
  #lengthBefore = 0;

  constructor(session: Session, settings: CompactionSettings = {}, hooks: SessionHooks = NO_HOOKS) {
    this.#session = session;
    this.#hooks = hooks;
    this.#settings = settings;
  }

  /**
   * Whether the next request would exceed the budget. A conversation that is too long right after a compaction is not
   * compacted again at every step.
   */
  isNeeded(client: ApiClient): boolean {
    return (
      contextTokens(this.#session.conversation) > budgetOf(client, this.#settings) * THRESHOLD &&
      this.#session.conversation.messages.length >= this.#lengthBefore + MESSAGES_BETWEEN
    );
  }

  /** False when nothing can be left out. */
  async compact(client: ApiClient, cause: Compacted["cause"], signal: AbortSignal): Promise<boolean> {
    const session = this.#session;
    const { reserve_recent = DEFAULT_RESERVE } = this.#settings;
    const { messages, system, tools } = session.conversation;
    if (await this.#isRefused(cause, signal)) return false;
    const before = contextTokens(session.conversation);
    session.publish({ type: "compaction_began", tokens: before });
    const prefix = prefixTokens(system, tools);
    // The provider has counted the tokens before; the tokens after are estimated as a share of that count.
    const scale = before / (prefix + messagesTokens(messages));
    const scaled = (tokens: number) => Math.ceil(tokens * scale);
    const room = budgetOf(client, this.#settings) * TARGET - prefix;
    const { summary, usage } = await summarize(session, client, reserve_recent, cause, signal);
    const result = shorten(messages, room, reserve_recent, session.ledger.toText(), summary);
    this.#lengthBefore = result?.messages.length ?? messages.length;
    if (!result) return false;
    await session.append({
      type: "compaction",
      cause,
      messages: result.messages,
      tokens_before: before,
      tokens_after: scaled(prefix + messagesTokens(result.messages)),
      kept: { turns: result.kept.turns, tokens: scaled(result.kept.tokens) },
      summarized: summary !== undefined,
      usage,
      cost: costOf(usage, client.model.price),
    });
    // The conversation begins anew: what a hook told the model at its start may be gone.
    const started = { subject: "compact", fields: { source: "compact" } } as const;
    await tellOutcome(session, await this.#hooks.fire("SessionStart", started, signal));
    return true;
  }

  async #isRefused(cause: Compacted["cause"], signal: AbortSignal): Promise<boolean> {
    const trigger = cause === "asked" ? "manual" : "auto";
    const fields = { trigger, custom_instructions: "" } as const;
    const outcome = await this.#hooks.fire("PreCompact", { subject: trigger, fields }, signal);
    const { block, stop, messages = [] } = outcome;
    const refused = block ?? stop;
    const reasons = refused === undefined ? [] : [`a hook refused the compaction: ${refused}`];
    await tellOutcome(this.#session, { messages: [...messages, ...reasons] });
    if (refused !== undefined) this.#lengthBefore = this.#session.conversation.messages.length;
    return refused !== undefined;
  }
}

/** Preserves as many of the last turns as fit. */
function shorten(
  messages: readonly Message[],
  room: number,
  reserveRecent: number,
  ledger: string,
  summary: string | undefined,
): CompactionResult | undefined {
  let best: CompactionResult | undefined;
  for (let reserve_recent = reserveRecent; reserve_recent >= 0; reserve_recent--) {
    const options = { reserve_recent, ledger, ...(summary !== undefined && { summary }) };
    const result = compactMessages(messages, options);
    if (!result) continue;
    best = result;
    if (messagesTokens(result.messages) <= room) break;
  }
  return best;
}

/** The model's context window minus its output, or less when the settings say so. */
function budgetOf({ model }: ApiClient, { max_tokens }: CompactionSettings): number {
  const window = Math.max(model.context_tokens - model.max_output_tokens, model.context_tokens / 2);
  return Math.min(max_tokens ?? window, window);
}

/** The model's own summary. Without it the messages are shortened, so a failure here does not fail the session. */
async function summarize(
  { conversation, id }: Session,
  client: ApiClient,
  reserveRecent: number,
  cause: Compacted["cause"],
  signal: AbortSignal,
): Promise<{ readonly summary?: string; readonly usage: Usage }> {
  const { system, tools, messages } = conversation;
  const cut = findCut(messages, reserveRecent) || messages.length;
  const range = messages.slice(0, endOfTurn(messages, cut));
  if (range.length === 0) return { usage: NO_USAGE };
  // Unchanged as far as possible, so that the provider's cache applies; a conversation that was too long is sent
  // without results.
  const sent = cause === "context_length" ? withoutResults(range) : range;
  const asked: Message = { role: "user", origin: "context", content: textParts(INSTRUCTION) };
  try {
    const request = {
      system,
      tools,
      messages: [...sent, asked],
      cache_key: id,
      max_output_tokens: SUMMARY_TOKENS,
    };
    for await (const event of client.send(request, signal)) {
      if (event.type !== "done") continue;
      const { usage } = event;
      const summary = textOf(event.message.content).trim();
      return summary === "" ? { usage } : { summary, usage };
    }
  } catch (failure) {
    signal.throwIfAborted();
    if (!(failure instanceof ApiError)) throw failure;
  }
  return { usage: NO_USAGE };
}

/** A call is not sent without its result. */
const endOfTurn = (messages: readonly Message[], cut: number): number =>
  messages[cut - 1]?.role === "assistant" && messages[cut]?.role === "tool" ? cut + 1 : cut;
