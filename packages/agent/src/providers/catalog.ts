import type { Model } from "../api-client.ts";
import type { Price } from "../usage.ts";

/** The facts about a family of models, identified by the prefix of their ids. */
export interface CatalogEntry {
  /** The id or its prefix; the longest match counts. */
  readonly id: string;
  readonly context_tokens?: number;
  readonly max_output_tokens?: number;
  readonly price?: Price;
  readonly images?: boolean;
  readonly thinking?: boolean;
}

/** For unknown models: most servers accept this much, and early compaction is better than a refusal. */
const UNKNOWN = {
  context_tokens: 32_768,
  max_output_tokens: 8_192,
  price: null,
  images: false,
  thinking: false,
} as const;

const CLAUDE = { context_tokens: 200_000, max_output_tokens: 32_000, images: true, thinking: true } as const;
const GPT_5 = { context_tokens: 272_000, max_output_tokens: 128_000, images: true, thinking: true } as const;
const GEMINI = {
  context_tokens: 1_000_000,
  max_output_tokens: 65_536,
  images: true,
  thinking: true,
} as const;

const claudePrice = (input: number, output: number): Price => ({
  input,
  output,
  cache_read: input / 10,
  cache_write: input * 1.25,
});

/** Prices are US dollars per million tokens. A family without a price here has an unknown cost. */
const CATALOG: readonly CatalogEntry[] = [
  { id: "claude", ...CLAUDE },
  { id: "claude-sonnet-4", ...CLAUDE, price: claudePrice(3, 15) },
  { id: "claude-haiku-4-5", ...CLAUDE, price: claudePrice(1, 5) },
  { id: "claude-opus-4-5", ...CLAUDE, price: claudePrice(5, 25) },
  { id: "claude-opus-4-1", ...CLAUDE, price: claudePrice(15, 75) },
  { id: "gpt-5", ...GPT_5 },
  { id: "gpt-6", ...GPT_5 },
  { id: "gpt-5-2025", ...GPT_5, price: { input: 1.25, output: 10, cache_read: 0.125 } },
  { id: "gpt-5.1", ...GPT_5, price: { input: 1.25, output: 10, cache_read: 0.125 } },
  { id: "gpt-5-mini", ...GPT_5, price: { input: 0.25, output: 2, cache_read: 0.025 } },
  { id: "gpt-5-nano", ...GPT_5, price: { input: 0.05, output: 0.4, cache_read: 0.005 } },
  {
    id: "gpt-4.1",
    context_tokens: 1_000_000,
    max_output_tokens: 32_768,
    images: true,
    price: { input: 2, output: 8, cache_read: 0.5 },
  },
  { id: "gpt-4o", context_tokens: 128_000, max_output_tokens: 16_384, images: true },
  { id: "o3", context_tokens: 200_000, max_output_tokens: 100_000, images: true, thinking: true },
  { id: "o4-mini", context_tokens: 200_000, max_output_tokens: 100_000, images: true, thinking: true },
  { id: "gemini", ...GEMINI },
  { id: "gemini-2.5-pro", ...GEMINI, price: { input: 1.25, output: 10, cache_read: 0.31 } },
  { id: "gemini-2.5-flash", ...GEMINI, price: { input: 0.3, output: 2.5, cache_read: 0.075 } },
];

/** The facts about a model: from the settings, then the longest matching entry, then careful defaults. */
export function findModel(provider: string, id: string, added: readonly CatalogEntry[] = []): Model {
  // Gateways prefix the maker: anthropic/claude-sonnet-4-5.
  const bare = id.slice(id.lastIndexOf("/") + 1);
  const fitting = (entries: readonly CatalogEntry[], name: string) =>
    entries.filter((entry) => name.startsWith(entry.id)).sort((a, b) => a.id.length - b.id.length);
  const { id: _id, ...known } = Object.assign(
    {},
    ...fitting(CATALOG, bare),
    ...fitting(added, id),
  ) as Partial<CatalogEntry>; // Only entries were merged.
  return { ...UNKNOWN, ...known, id, provider };
}
