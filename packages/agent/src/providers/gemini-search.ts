import { randomUUID } from "node:crypto";
import type { Delta } from "../api-client.ts";
import type { AssistantPart, WebSearchPart, WebSource } from "../messages.ts";
import { toSearchDelta } from "../web-search.ts";
import { fieldOf, listOf, stringOf } from "./wire.ts";

const CALL = "toolCall";
const RESPONSE = "toolResponse";

/**
 * The searches of an answer of Gemini. Beside functions each is a call and a response among the parts, which go back
 * as they were; the sources come later, in the grounding metadata. Without functions there is only the metadata.
 */
export function createSearches(api: string, parts: AssistantPart[]) {
  /** Google bills each query once, and none that is empty. */
  const asked = new Set<string>();
  const found = new Set<string>();

  const add = (part: WebSearchPart): Delta => {
    parts.push(part);
    return toSearchDelta(part);
  };

  return {
    isStep: (part: unknown): boolean =>
      fieldOf(part, CALL) !== undefined || fieldOf(part, RESPONSE) !== undefined,
    *readStep(part: unknown): Generator<Delta> {
      const call = fieldOf(part, CALL);
      const queries = toQueries([...listOf(call, "args", "queries"), fieldOf(call, "args", "query")]);
      for (const query of queries) asked.add(query);
      yield add({
        type: "web_search",
        search_id: stringOf(call ?? fieldOf(part, RESPONSE), "id"),
        done: call === undefined,
        queries,
        sources: [],
        native: { api, data: part },
      });
    },
    *readGrounding(metadata: unknown): Generator<Delta> {
      const queries = toQueries(listOf(metadata, "webSearchQueries")).filter((query) => !asked.has(query));
      const sources = listOf(metadata, "groundingChunks")
        .map(toSource)
        .filter(({ url }) => url !== "" && !found.has(url) && found.add(url));
      if (queries.length + sources.length === 0) return;
      for (const query of queries) asked.add(query);
      const result = parts.findLast((part) => part.type === "web_search" && part.done);
      if (result?.type !== "web_search") {
        // Nothing of it is sent back: the API did not make it a part of the answer.
        const native = { api, data: null };
        yield add({ type: "web_search", search_id: randomUUID(), done: true, queries, sources, native });
        return;
      }
      for (const [at, part] of parts.entries())
        if (part.type === "web_search" && part.search_id === result.search_id)
          parts[at] = part.done
            ? { ...part, sources: [...part.sources, ...sources] }
            : { ...part, queries: [...part.queries, ...queries] };
      yield toSearchDelta({ ...result, queries, sources });
    },
    count: () => asked.size,
  };
}

const toQueries = (list: readonly unknown[]): readonly string[] =>
  list.filter((query): query is string => typeof query === "string" && query !== "");

const toSource = (chunk: unknown): WebSource => ({
  title: stringOf(chunk, "web", "title"),
  url: stringOf(chunk, "web", "uri"),
});
