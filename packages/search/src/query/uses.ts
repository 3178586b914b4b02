import type { StoredSymbol } from "../engine/store.ts";
import type { InFile } from "../engine/syntax-search.ts";
import type { Occurrence } from "../syntax/occurrences.ts";
import type { Found, RankedList, SearchParts, SearchRequest } from "./hit.ts";
import { byDistance, distanceOf } from "./literal.ts";
import { lastPart, partsOf } from "./symbol-path.ts";

/**
 * Calls before other uses; within each, files that have the class, then code before tests, then the nearest to a
 * definition first.
 */
export async function callers(
  { engine }: SearchParts,
  { scope, limit, signal, onUnparsed }: SearchRequest,
  name: string,
): Promise<RankedList> {
  const own = lastPart(name);
  const outer = partsOf(name).at(-2) || undefined;
  const [called, used]: [Found[], Found[]] = [[], []];
  const withClass = new Set<string>();
  const options = { name: own, scope, signal, onUnparsed };
  const scan = async (files: AsyncIterable<InFile<Occurrence>>, onFile: (path: string) => void) => {
    for await (const { path, hash, found } of files) {
      onFile(path);
      for (const { role, range, within } of found) {
        const symbol = within?.path ?? null;
        const hit: Found = { path, range, hash, symbol, kind: within?.kind ?? "lines" };
        if (role === "call") called.push(hit);
        else if (role === "use") used.push(hit);
      }
      if (countSymbols(called) >= limit) return;
    }
  };
  // A common name has more callers than there is room for, and those that know the class must not miss it.
  if (outer)
    await scan(engine.syntax.occurrences({ ...options, beside: outer }), (path) => withClass.add(path));
  if (countSymbols(called) < limit)
    await scan(engine.syntax.occurrences({ ...options, except: withClass }), () => {});
  const named = await engine.symbols(own, { limit: MAX_DEFINITIONS, exact: true });
  const ofClass = named.filter(({ path }) => outer !== undefined && partsOf(path).at(-2) === outer);
  const near = nearTo(ofClass.length > 0 ? ofClass : named);
  const far = ({ path }: Found) => (outer === undefined || withClass.has(path) ? 0 : 1);
  const byFit = (a: Found, b: Found) => far(a) - far(b) || distanceOf(a) - distanceOf(b) || near(a) - near(b);
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
