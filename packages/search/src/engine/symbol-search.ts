import { isIn } from "./scope.ts";
import type { IndexStore, StoredSymbol } from "./store.ts";
import type { SymbolNames } from "./symbol-names.ts";

export interface SymbolOptions {
  readonly kind?: string;
  /** Only below this folder, or this file. */
  readonly scope?: string;
  readonly limit: number;
  /** Only the name itself, whatever its case. */
  readonly exact?: boolean;
}

/** Names that are looked up before giving up on those that lie elsewhere or are of another kind. */
const MAX_NAMES = 2_000;

/** Symbols with the name, then those with names like it, the closest first. `Outer.inner` asks for an inner of Outer. */
export function findByName(
  store: IndexStore,
  allNames: () => SymbolNames,
  asked: string,
  { kind, scope = "", limit, exact = false }: SymbolOptions,
): StoredSymbol[] {
  const own = asked.split(/\.|::|#|->/).at(-1) || asked;
  const isWanted = (symbol: StoredSymbol) =>
    (kind === undefined || symbol.kind === kind) && isIn(scope, symbol.file);
  const named = (name: string) => store.symbolsNamed(name).filter(isWanted).sort(byFit(asked));

  // The name itself needs no list of all names: it is answered right after a start.
  const found = named(own);
  if (exact || found.length >= limit) return found.slice(0, limit);
  const looked = new Set([own.toLowerCase()]);
  for (const name of allNames().matching(own)) {
    const small = name.toLowerCase();
    if (looked.has(small)) continue;
    looked.add(small);
    found.push(...named(name));
    if (found.length >= limit || looked.size > MAX_NAMES) break;
  }
  return found.slice(0, limit);
}

/** The path as it was asked for comes first, then a definition with a body before a declaration, then the shortest path. */
const byFit =
  (asked: string) =>
  (a: StoredSymbol, b: StoredSymbol): number =>
    fit(b, asked) - fit(a, asked) || a.path.length - b.path.length || compare(a.file, b.file);

function fit({ name, path, range }: StoredSymbol, asked: string): number {
  const normal = asked.replace(/::|#|->/g, ".");
  const exact = path === normal || path.endsWith(`.${normal}`) ? 4 : name === asked ? 2 : 0;
  return exact + (range.end.line > range.start.line ? 1 : 0);
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
