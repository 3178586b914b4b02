import type { Price } from "../usage.ts";

/** The facts about a family of models, identified by the prefix of their ids. */
export interface CatalogEntry {
  /** The id or its prefix; the longest match counts, and of equal ones the last. */
  readonly id: string;
  readonly context_tokens?: number;
  readonly max_output_tokens?: number;
  readonly price?: Price;
  readonly images?: boolean;
  readonly thinking?: boolean;
  /** The first day of a changed price, such as 2027-01-01. */
  readonly valid_from?: string;
}

const ABLE = { images: true, thinking: true } as const;
const CLAUDE_4 = { context_tokens: 200_000, max_output_tokens: 32_000, ...ABLE } as const;
const CLAUDE_5 = { context_tokens: 1_000_000, max_output_tokens: 128_000, ...ABLE } as const;
const GPT_5 = { context_tokens: 272_000, max_output_tokens: 128_000, ...ABLE } as const;
const GPT_5_6 = { context_tokens: 1_050_000, max_output_tokens: 128_000, ...ABLE } as const;
const GEMINI = { context_tokens: 1_048_576, max_output_tokens: 65_536, ...ABLE } as const;

/** Anthropic bills what it writes into its cache with a quarter on top. */
const claudePrice = (input: number, output: number, cache_read = input / 10): Price => ({
  input,
  output,
  cache_read,
  cache_write: input * 1.25,
});

/**
 * The facts about models. Prices are US dollars per million tokens; a family without one has an unknown
 * cost. The makers' pages are the source, except for GPT-6 and its cache prices, which are second hand. The window of
 * GPT-6 is not published: 272,000 tokens is where its price rises.
 */
export const MODELS: readonly CatalogEntry[] = [
  { id: "claude", ...CLAUDE_4 },
  { id: "claude-sonnet-4", ...CLAUDE_4, price: claudePrice(3, 15) },
  { id: "claude-haiku-4-5", ...CLAUDE_4, price: claudePrice(1, 5) },
  { id: "claude-opus-4-5", ...CLAUDE_4, price: claudePrice(5, 25) },
  { id: "claude-opus-4-1", ...CLAUDE_4, price: claudePrice(15, 75) },
  { id: "claude-fable-5-1", ...CLAUDE_5, price: claudePrice(10, 50, 0.25) },
  { id: "claude-opus-5-5", ...CLAUDE_5, price: claudePrice(4, 20, 0.2) },
  { id: "claude-sonnet-5-5", ...CLAUDE_5, price: claudePrice(2, 10, 0.1) },
  {
    id: "claude-haiku-5-5",
    ...CLAUDE_5,
    price: { ...claudePrice(0.1, 0.5, 0.01), long: { above_tokens: 100_000, input: 0.5, output: 2.5 } },
  },
  { id: "gpt-5", ...GPT_5 },
  { id: "gpt-5-2025", ...GPT_5, price: { input: 1.25, output: 10, cache_read: 0.125 } },
  { id: "gpt-5.1", ...GPT_5, price: { input: 1.25, output: 10, cache_read: 0.125 } },
  { id: "gpt-5-mini", ...GPT_5, price: { input: 0.25, output: 2, cache_read: 0.025 } },
  { id: "gpt-5-nano", ...GPT_5, price: { input: 0.05, output: 0.4, cache_read: 0.005 } },
  { id: "gpt-5.6-sol", ...GPT_5_6, price: { input: 5, output: 30 } },
  { id: "gpt-5.6-terra", ...GPT_5_6, price: { input: 2, output: 12 } },
  { id: "gpt-5.6-luna", ...GPT_5_6, price: { input: 0.2, output: 1.2 } },
  { id: "gpt-6", ...GPT_5 },
  { id: "gpt-6-astra", ...GPT_5, price: { input: 10, output: 50, cache_read: 1 } },
  { id: "gpt-6-sol", ...GPT_5, price: { input: 2, output: 10, cache_read: 0.2 } },
  { id: "gpt-6.1-sol", ...GPT_5, price: { input: 2, output: 10, cache_read: 0.1 } },
  { id: "gpt-6-luna", ...GPT_5, price: { input: 0.1, output: 0.5, cache_read: 0.01 } },
  {
    id: "gpt-4.1",
    context_tokens: 1_000_000,
    max_output_tokens: 32_768,
    images: true,
    price: { input: 2, output: 8, cache_read: 0.5 },
  },
  { id: "gpt-4o", context_tokens: 128_000, max_output_tokens: 16_384, images: true },
  { id: "o3", context_tokens: 200_000, max_output_tokens: 100_000, ...ABLE },
  { id: "o4-mini", context_tokens: 200_000, max_output_tokens: 100_000, ...ABLE },
  { id: "gemini", ...GEMINI },
  { id: "gemini-2.5-pro", ...GEMINI, price: { input: 1.25, output: 10, cache_read: 0.31 } },
  { id: "gemini-2.5-flash", ...GEMINI, price: { input: 0.3, output: 2.5, cache_read: 0.075 } },
  {
    id: "gemini-3.1-pro-preview",
    ...GEMINI,
    price: { input: 2, output: 12, long: { above_tokens: 200_000, input: 4, output: 18 } },
  },
  { id: "gemini-3.8-flash", ...GEMINI, price: { input: 0.75, output: 3.75, cache_read: 0.075 } },
  {
    id: "gemini-3.8-flash",
    valid_from: "2027-01-01",
    price: { input: 1.5, output: 7.5, cache_read: 0.15 },
  },
];
