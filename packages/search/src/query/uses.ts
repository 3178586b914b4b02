import type { StoredSymbol } from "../engine/store.ts";
import type { Found, RankedList, SearchParts, SearchRequest } from "./hit.ts";
import { byDistance, distanceOf } from "./literal.ts";
import { lastPart } from "./symbol-path.ts";

/** Calls before other uses; within each, code before tests, then the nearest to a definition first. */
export async function callers(
  { engine }: SearchParts,
  { scope, limit, signal, onUnparsed }: SearchRequest,
  name: string,
): Promise<RankedList> {
  const own = lastPart(name);
  const [called, used]: [Found[], Found[]] = [[], []];
  const options = { name: own, scope, signal, onUnparsed };
  for await (const { path, hash, found } of engine.syntax.occurrences(options)) {
    for (const { role, range, within } of found) {
      const symbol = within?.path ?? null;
      const hit: Found = { path, range, hash, symbol, kind: within?.kind ?? "lines" };
      if (role === "call") called.push(hit);
      else if (role === "use") used.push(hit);
    }
    if (countSymbols(called) >= limit) break;
  }
  const near = nearTo(await engine.symbols(own, { limit: MAX_DEFINITIONS, exact: true }));
  const byFit = (a: Found, b: Found) => distanceOf(a) - distanceOf(b) || near(a) - near(b);
  return { strategy: "callers", found: [...called.sort(byFit), ...used.sort(byFit)] };
}

/** Definitions of one name to compare callers with. */
const MAX_DEFINITIONS = 20;

/**
 * The distance of a caller from a definition: same class, same file, same folder, or elsewhere. A near caller
 * is more likely to mean that definition.
 */
function nearTo(definitions: readonly StoredSymbol[]): (caller: Found) => number {
  const outer = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf(".")));
  const folder = (file: string) => file.slice(0, Math.max(0, file.lastIndexOf("/")));
  return ({ path, symbol }) =>
    Math.min(
      3,
      ...definitions.map((definition) => {
        if (definition.file !== path) return folder(definition.file) === folder(path) ? 2 : 3;
        const within = outer(definition.path);
        return within !== "" && symbol?.startsWith(`${within}.`) ? 0 : 1;
      }),
    );
}

const countSymbols = (found: readonly Found[]) =>
  new Set(found.map(({ path, symbol }) => `${path}\n${symbol}`)).size;

const TYPES: ReadonlySet<string> = new Set(["class", "interface", "struct", "trait", "enum", "type"]);

/** Types that name the type in their header, which is how most languages declare a supertype. */
export async function subtypes(
  { engine }: SearchParts,
  { scope, limit, signal, onUnparsed }: SearchRequest,
  name: string,
): Promise<RankedList> {
  const own = lastPart(name);
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
  return { strategy: "subtypes", found: found.toSorted(byDistance) };
}

const wordsIn = (text: string): readonly string[] => text.match(/[\p{L}\p{N}_$]+/gu) ?? [];
