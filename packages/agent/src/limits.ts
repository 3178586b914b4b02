import type { Conversation } from "./conversation.ts";
import type { EndReason } from "./events.ts";
import { tokensOf } from "./usage.ts";

/** The limits of one run, including its sub-agents and models as tools; an absent limit is unlimited. */
export interface Limits {
  /** The model's answers. */
  readonly max_turns?: number;
  /** Input and output of all requests, including cached input. */
  readonly max_tokens?: number;
  /** US dollars. Models without a known price do not count. */
  readonly max_cost?: number;
  readonly max_time_ms?: number;
}

export interface LimitReached {
  readonly reason: EndReason;
  readonly message: string;
  readonly limit: number;
}

/** Counts from now on; each run has its own limits, whatever the session has spent before. */
export function createMeter(
  limits: () => Limits,
  conversation: Conversation,
): () => LimitReached | undefined {
  const started = performance.now();
  const { turns: turnsBefore, usage: usageBefore, knownCost: costBefore } = conversation;
  return () => {
    const { max_turns, max_tokens, max_cost, max_time_ms } = limits();
    const turns = conversation.turns - turnsBefore;
    if (max_turns !== undefined && turns >= max_turns)
      return {
        reason: "max_turns",
        message: `the limit of ${max_turns} ${max_turns === 1 ? "turn" : "turns"} is reached`,
        limit: max_turns,
      };
    const tokens = tokensOf(conversation.usage) - tokensOf(usageBefore);
    if (max_tokens !== undefined && tokens >= max_tokens)
      return {
        reason: "max_tokens",
        message: `the limit of ${max_tokens} tokens is reached (${tokens} used)`,
        limit: max_tokens,
      };
    const cost = conversation.knownCost - costBefore;
    if (max_cost !== undefined && cost >= max_cost)
      return {
        reason: "max_cost",
        message: `the limit of $${max_cost} is reached ($${cost.toFixed(4)} spent)`,
        limit: max_cost,
      };
    if (max_time_ms !== undefined && performance.now() - started >= max_time_ms)
      return timeReached(max_time_ms);
    return undefined;
  };
}

const timeReached = (limit: number): LimitReached => ({
  reason: "max_time",
  message: `the limit of ${limit / 1000} s is reached`,
  limit,
});

/** Aborts a stream or a tool that would outlast the run's time, with the limit as the reason. */
export function createDeadline(ms: number | undefined): { readonly signal: AbortSignal } & Disposable {
  const stop = new AbortController();
  const timer = ms === undefined ? undefined : setTimeout(() => stop.abort(timeReached(ms)), ms);
  return { signal: stop.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}
