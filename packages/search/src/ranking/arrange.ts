import type { RankedHit } from "../engine/code-index.ts";
import type { TermCutter } from "../text/terms.ts";

/** Vectors may put one hit before the best hit by words, when the question names that one. */
const MAX_NAMED_PLACE = 1;
/** A name of one word may be in the question by chance. */
const MIN_NAME_WORDS = 2;
/** More overloads of one method say nothing new. */
const MAX_OVERLOADS = 2;

/**
 * Puts the best hit by words near the top when the question contains all words of its name, and further overloads of a
 * method behind all other hits. The scores stay in descending order. Measured on the dev split: see docs/search.md.
 */
export function arrange(hits: readonly RankedHit[], question: string, cutTerms: TermCutter): RankedHit[] {
  const asked = new Set(cutTerms(question));
  const isNamed = ({ symbol, why }: RankedHit) => {
    const name = cutTerms(symbol?.name ?? "");
    const isFirst = why.some(({ strategy, rank }) => strategy === "text" && rank === 1);
    return isFirst && name.length >= MIN_NAME_WORDS && name.every((term) => asked.has(term));
  };
  const counts = new Map<string, number>();
  const isOverload = ({ file, symbol }: RankedHit) => {
    if (!symbol) return false;
    const key = `${file}#${symbol.path}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return (counts.get(key) ?? 0) > MAX_OVERLOADS;
  };
  const { first = [], later = [] } = Object.groupBy(hits, (hit) => (isOverload(hit) ? "later" : "first"));
  const named = first.findIndex(isNamed);
  if (named > MAX_NAMED_PLACE) first.splice(MAX_NAMED_PLACE, 0, ...first.splice(named, 1));
  return [...first, ...later].map((hit, at) => ({ ...hit, score: hits[at]?.score ?? hit.score }));
}
