import type { StoredSymbol } from "../engine/store.ts";
import type { Found, RankedList } from "./hit.ts";
import { distanceOf } from "./literal.ts";
import type { SearchParts, SearchRequest } from "./parts.ts";

/** Calls before other uses; within each, code before tests, then the nearest to a definition first. */
export async function callers(
  { engine }: SearchParts,
  { scope, limit, signal, onUnparsed }: SearchRequest,
  name: string,
): Promise<RankedList> {
  const own = name.split(/\.|::|#|->/).at(-1) || name;
  const [called, used]: [Found[], Found[]] = [[], []];
  for await (const { path, hash, found } of engine.syntax.occurrences({
    name: own,
    scope,
    signal,
    onUnparsed,
  })) {
    for (const { role, range, within } of found) {
      const hit: Found = {
        path,
        range,
        hash,
        symbol: within?.path ?? null,
        kind: within?.kind ?? "lines",
      };
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
