import type { Found, RankedList } from "./hit.ts";
import { distanceOf } from "./literal.ts";
import type { SearchParts, SearchRequest } from "./parts.ts";

const TYPES: ReadonlySet<string> = new Set(["class", "interface", "struct", "trait", "enum", "type"]);

/** Types that name the type in their header, which is how most languages declare a supertype. */
export async function subtypes(
  { engine }: SearchParts,
  { scope, limit, signal, onUnparsed }: SearchRequest,
  name: string,
): Promise<RankedList> {
  const own = name.split(/\.|::|#|->/).at(-1) || name;
  const found: Found[] = [];
  const options = { name: own, scope, signal, onUnparsed };
  for await (const { path, hash, found: places } of engine.syntax.occurrences(options)) {
    for (const { role, within } of places) {
      if (role === "definition" || !within || !TYPES.has(within.kind)) continue;
      const { path: symbol, kind, range, signature } = within;
      if (symbol.split(".").at(-1) !== own && wordsIn(signature).includes(own))
        found.push({ path, hash, range, symbol, kind });
    }
    if (found.length >= limit) break;
  }
  return { strategy: "subtypes", found: found.toSorted((a, b) => distanceOf(a) - distanceOf(b)) };
}

const wordsIn = (text: string): readonly string[] => text.match(/[\p{L}\p{N}_$]+/gu) ?? [];
