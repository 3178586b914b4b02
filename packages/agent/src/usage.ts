import { z } from "zod";

/** Tokens of one request, or of many. The three kinds of input do not overlap. */
export const Usage = z.object({
  /** Uncached input. */
  input_tokens: z.number(),
  cache_read_tokens: z.number(),
  cache_write_tokens: z.number(),
  /** Includes thinking. */
  output_tokens: z.number(),
  reasoning_tokens: z.number(),
  /** Searches of the provider's own web search; absent without any. */
  web_searches: z.number().optional(),
});
export type Usage = Readonly<z.output<typeof Usage>>;

/** US dollars per million tokens. */
export interface Price extends Rates {
  /** US dollars for one search of the provider's own web search. */
  readonly search?: number;
  /** The rates of a request whose input is longer than this. */
  readonly long?: Rates & { readonly above_tokens: number };
}

interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
}

export const NO_USAGE: Usage = {
  input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
};

export const addUsage = (one: Usage, other: Usage): Usage => ({
  input_tokens: one.input_tokens + other.input_tokens,
  cache_read_tokens: one.cache_read_tokens + other.cache_read_tokens,
  cache_write_tokens: one.cache_write_tokens + other.cache_write_tokens,
  output_tokens: one.output_tokens + other.output_tokens,
  reasoning_tokens: one.reasoning_tokens + other.reasoning_tokens,
  ...searchesOf((one.web_searches ?? 0) + (other.web_searches ?? 0)),
});

export const subtractUsage = (one: Usage, other: Usage): Usage => ({
  input_tokens: one.input_tokens - other.input_tokens,
  cache_read_tokens: one.cache_read_tokens - other.cache_read_tokens,
  cache_write_tokens: one.cache_write_tokens - other.cache_write_tokens,
  output_tokens: one.output_tokens - other.output_tokens,
  reasoning_tokens: one.reasoning_tokens - other.reasoning_tokens,
  ...searchesOf((one.web_searches ?? 0) - (other.web_searches ?? 0)),
});

export const searchesOf = (web_searches: number): Pick<Usage, "web_searches"> =>
  web_searches > 0 ? { web_searches } : {};

const inputTokensOf = (usage: Usage): number =>
  usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;

export const tokensOf = (usage: Usage): number => inputTokensOf(usage) + usage.output_tokens;

/** The share of the input that came from the provider's cache, from 0 to 1. */
export const cacheHitRate = (usage: Usage): number =>
  inputTokensOf(usage) === 0 ? 0 : usage.cache_read_tokens / inputTokensOf(usage);

const PER = 1_000_000;

/** The cost of one request; null when the price of a part of it is unknown. */
export function costOf(usage: Usage, price: Price | null): number | null {
  if (!price) return null;
  const { long, search } = price;
  const { web_searches = 0 } = usage;
  if (web_searches > 0 && search === undefined) return null;
  const rates = long && inputTokensOf(usage) > long.above_tokens ? long : price;
  const { input, output, cache_read = input, cache_write = input } = rates;
  return (
    (usage.input_tokens * input +
      usage.cache_read_tokens * cache_read +
      usage.cache_write_tokens * cache_write +
      usage.output_tokens * output) /
      PER +
    web_searches * (search ?? 0)
  );
}
