import type { Found, Hit, RankedList } from "./hit.ts";
import { lastPart, ownName, partsOf, withoutNumber } from "./symbol-path.ts";

/** Hits of the requested kind first. */
export function ofKindsFirst(list: RankedList, kinds: readonly string[] = []): RankedList {
  const placeOf = ({ kind }: Found) => (kinds.includes(kind) ? kinds.indexOf(kind) : kinds.length);
  return { ...list, found: list.found.toSorted((a, b) => placeOf(a) - placeOf(b)) };
}

/** Keeps the symbols whose case matches the name; keeps all if none does. */
export function asWritten(name: string, list: RankedList): RankedList {
  const own = lastPart(name);
  const same = list.found.filter(({ symbol }) => ownName(symbol) === own);
  return same.length > 0 ? { ...list, found: same } : list;
}

/**
 * Symbols with this name first, then symbols whose name contains it, both in their own order; then literal matches,
 * then symbols with similar names. A qualified name that exists is followed by its literal matches only.
 */
export function orderByName(name: string, hits: readonly Hit[]): Hit[] {
  const whole = partsOf(name).join(".").toLowerCase();
  const own = whole.slice(whole.lastIndexOf(".") + 1);
  const plainOf = ({ symbol }: Hit) => withoutNumber(symbol ?? "").toLowerCase();
  const isWhole = (hit: Hit) => plainOf(hit) === whole || plainOf(hit).endsWith(`.${whole}`);
  const isNamed = hits.some((hit) => rankIn(hit, "symbol") !== undefined && isWhole(hit))
    ? isWhole
    : (hit: Hit) => ownName(plainOf(hit)) === own;
  const isKnown = hits.some((hit) => rankIn(hit, "symbol") !== undefined && isNamed(hit));
  const tierOf = (hit: Hit) => {
    const [symbol, written] = [rankIn(hit, "symbol"), rankIn(hit, "literal")];
    if (symbol !== undefined && isNamed(hit)) return { tier: 0, rank: symbol };
    const holds = symbol !== undefined && ownName(plainOf(hit)).includes(own);
    if (holds && (!isKnown || own === whole)) return { tier: 1, rank: symbol };
    if (written !== undefined) return { tier: 2, rank: written };
    return { tier: 3, rank: symbol ?? 0 };
  };
  return hits
    .map((hit) => ({ hit, ...tierOf(hit) }))
    .filter(({ tier }) => tier < 3 || !isKnown || own === whole)
    .sort((a, b) => a.tier - b.tier || a.rank - b.rank)
    .map(({ hit }) => hit);
}

/** Names of more words are rare. */
const MAX_SPOKEN_WORDS = 6;
const DEFINED: ReadonlySet<string> = new Set([
  ...["function", "method", "constructor", "class", "interface", "struct", "trait", "enum", "type", "macro"],
]);

/** The names that plain words may spell: `read file` is `readFile`, `ReadFile` or `read_file`. */
export function spokenNames(text: string): string[] {
  const words = text.split(" ");
  const isPlain = words.every((word) => /^[\p{L}\p{N}]+$/u.test(word));
  return isPlain && words.length > 1 && words.length <= MAX_SPOKEN_WORDS
    ? [words.join(""), words.join("_")]
    : [];
}

/** Types and functions; a field or a variable is rarely what plain words ask for. */
export const definitionsIn = (list: RankedList): Found[] =>
  list.found.filter(({ kind }) => DEFINED.has(kind));

const rankIn = ({ why }: Hit, strategy: string) => why.find((each) => each.strategy === strategy)?.rank;
