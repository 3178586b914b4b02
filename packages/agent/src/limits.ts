import { counted } from "@octant/core";
import type { Model } from "./api-client.ts";
import type { Conversation } from "./conversation.ts";
import type { EndReason } from "./events.ts";
import { tokensOf } from "./usage.ts";

/** The limits of one run, including its sub-agents and models as tools; an absent limit is unlimited. */
export interface Limits {
  /** The model's answers. */
  readonly max_turns?: number;
  /** Input and output of all requests, including cached input. */
  readonly max_tokens?: number;
  /** US dollars. A model without a known price ends the run before its first request. */
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
  model: () => Model,
): () => LimitReached | undefined {
  const started = performance.now();
  const { turns, usage, knownCost, unpriced } = conversation;
  return () => {
    const { max_turns, max_tokens, max_cost, max_time_ms } = limits();
    const tokens = tokensOf(conversation.usage) - tokensOf(usage);
    const cost = conversation.knownCost - knownCost;
    if (max_turns !== undefined && conversation.turns - turns >= max_turns)
      return toReached("max_turns", max_turns, counted(max_turns, "turn"));
    if (max_tokens !== undefined && tokens >= max_tokens)
      return toReached("max_tokens", max_tokens, `${max_tokens} tokens`, ` (${tokens} used)`);
    if (max_cost !== undefined && model().price === null)
      return { reason: "max_cost", message: unpricedModel(model().id), limit: max_cost };
    if (max_cost !== undefined && conversation.unpriced > unpriced)
      return { reason: "max_cost", message: UNPRICED_PART, limit: max_cost };
    if (max_cost !== undefined && cost >= max_cost)
      return toReached("max_cost", max_cost, `$${max_cost}`, ` ($${cost.toFixed(4)} spent)`);
    if (max_time_ms !== undefined && performance.now() - started >= max_time_ms)
      return timeReached(max_time_ms);
    return undefined;
  };
}

const unpricedModel = (id: string) =>
  `the cost limit cannot be enforced, because the price of ${id} is unknown; give its price in the settings ` +
  `(models.${id}.price: input and output in US dollars per million tokens), or limit tokens, turns or time instead`;
const UNPRICED_PART =
  "the cost limit cannot be enforced, because a sub-agent or a tool used a model whose price is unknown; " +
  "give its price in the settings (models.<name>.price), or name another model";

const timeReached = (ms: number) => toReached("max_time", ms, `${ms / 1000} s`);

const toReached = (reason: EndReason, limit: number, shown: string, used = ""): LimitReached => ({
  reason,
  message: `the limit of ${shown} is reached${used}`,
  limit,
});

/** Aborts a stream or a tool that would outlast the run's time, with the limit as the reason. */
export function createDeadline(ms: number | undefined): { readonly signal: AbortSignal } & Disposable {
  const stop = new AbortController();
  const timer = ms === undefined ? undefined : setTimeout(() => stop.abort(timeReached(ms)), ms);
  return { signal: stop.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}
