import { lastPart, partsOf, withoutNumber } from "../query/symbol-path.ts";
import { isIn } from "./scope.ts";
import type { IndexStore, StoredSymbol } from "./store.ts";
import type { SymbolNames } from "./symbol-names.ts";
import { distanceFromCode, isTest, traitsOf } from "./traits.ts";

export interface SymbolOptions {
  /** Other names that it may have; symbols with one of them come after those with the name itself. */
  readonly also?: readonly string[];
  readonly kind?: string;
  /** Restricts the search to this folder or file. */
  readonly scope?: string;
  readonly limit: number;
  /** Only the exact name, ignoring case. */
  readonly exact?: boolean;
}

/** Names to look up before giving up on matches in another scope or of another kind. */
const MAX_NAMES = 2_000;

/**
 * Symbols with the name, then those with similar names, closest first. `Outer.inner` asks for an inner of
 * Outer.
 */
export function findByName(
  store: IndexStore,
  allNames: () => SymbolNames,
  asked: string,
  { also = [], kind, scope = "", limit, exact = false }: SymbolOptions,
): StoredSymbol[] {
  const own = lastPart(asked);
  const isWanted = (symbol: StoredSymbol) =>
    (kind === undefined || symbol.kind === kind) && isIn(scope, symbol.file);
  const bestFit = byFit(asked);
  const bySimilarity = (a: StoredSymbol, b: StoredSymbol) =>
    distanceFromCode(a.file, a.path) - distanceFromCode(b.file, b.path) ||
    a.name.length - b.name.length ||
    bestFit(a, b);
  const named = (name: string) => store.symbolsNamed(name).filter(isWanted).sort(bestFit);

  // An exact name does not need the list of all names, so it can be answered right after a start.
  const found = named(own);
  const looked = new Set([own.toLowerCase()]);
  for (const other of also.flatMap(spellingsOf)) {
    if (looked.has(other.toLowerCase())) continue;
    looked.add(other.toLowerCase());
    found.push(...named(other));
  }
  if (exact || found.length >= limit) return found.slice(0, limit);
  for (const level of allNames().matching(own)) {
    const alike: StoredSymbol[] = [];
    for (const name of level) {
      if (alike.length >= limit || looked.size > MAX_NAMES) break;
      const small = name.toLowerCase();
      if (looked.has(small)) continue;
      looked.add(small);
      alike.push(...named(name));
    }
    found.push(...alike.sort(bySimilarity));
    if (found.length >= limit || looked.size > MAX_NAMES) break;
  }
  return found.slice(0, limit);
}

/** A name in camel case, in snake case and joined; case is ignored when it is looked up. */
export function spellingsOf(name: string): string[] {
  const words = lastPart(name).match(/\p{Lu}*[\p{Ll}\p{N}]+|[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set([name, words.join(""), words.join("_")])];
}

/**
 * Orders an exact path first; then types before callables before values, code before tests, a definition with
 * a body before a declaration, and the shortest path.
 */
const byFit =
  (asked: string) =>
  (a: NamedSymbol, b: NamedSymbol): number =>
    fit(b, asked) - fit(a, asked) || a.path.length - b.path.length || compare(a.file, b.file);

type NamedSymbol = Pick<StoredSymbol, "name" | "path" | "kind" | "file" | "range">;

function fit({ name, path, kind, file, range }: NamedSymbol, asked: string): number {
  const parts = partsOf(asked);
  const normal = parts.join(".");
  const own = lastPart(asked);
  const plain = withoutNumber(path);
  const exact = plain === normal || plain.endsWith(`.${normal}`) ? 128 : name === own ? 64 : 0;
  const lines = range.end.line - range.start.line + 1;
  return (
    exact +
    16 * Math.min(3, countOuter(parts.slice(0, -1), plain, file)) +
    (TYPES.has(kind) ? 8 : VALUES.has(kind) ? 0 : 4) +
    (isTest(traitsOf({ path: file, symbol: path, kind, lines })) ? 0 : 2) +
    (lines > 1 ? 1 : 0)
  );
}

/** Counts qualifiers found around the symbol: `package.Type.method` names a package by its folder or file. */
function countOuter(outer: readonly string[], path: string, file: string): number {
  if (outer.length === 0) return 0;
  const around = new Set(`${path}/${file}`.toLowerCase().split(/[/.]/));
  return outer.filter((part) => around.has(part.toLowerCase())).length;
}

const TYPES: ReadonlySet<string> = new Set(["class", "interface", "struct", "trait", "enum", "type"]);
const VALUES: ReadonlySet<string> = new Set(["variable", "constant", "field", "key", "element", "heading"]);

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
