import type { Model } from "../api-client.ts";
import { type CatalogEntry, MODELS } from "./models.ts";

/** For unknown models: most servers accept this much, and early compaction is better than a refusal. */
const UNKNOWN = {
  context_tokens: 32_768,
  max_output_tokens: 8_192,
  price: null,
  images: false,
  thinking: false,
} as const;

/** The facts about a model: from the settings, then the longest matching entry, then careful defaults. */
export function findModel(
  provider: string,
  id: string,
  added: readonly CatalogEntry[] = [],
  now = Date.now(),
): Model {
  // Gateways prefix the maker: anthropic/claude-sonnet-4-5.
  const bare = id.slice(id.lastIndexOf("/") + 1);
  const fitting = (entries: readonly CatalogEntry[], name: string) =>
    entries
      .filter(({ id, valid_from }) => name.startsWith(id) && !(valid_from && Date.parse(valid_from) > now))
      .sort((a, b) => a.id.length - b.id.length);
  const {
    id: _id,
    valid_from: _from,
    ...known
  } = Object.assign({}, ...fitting(MODELS, bare), ...fitting(added, id)) as Partial<CatalogEntry>; // Only entries were merged.
  return { ...UNKNOWN, ...known, id, provider };
}
