import type { TermCutter } from "../text/terms.ts";
import { createSynonyms } from "./synonyms.ts";

/** A query term and its weight. */
export interface AskedTerm {
  readonly term: string;
  readonly weight: number;
}

/** Words without meaning for code. `is`, `to`, `from` and `into` are kept: names begin with them. */
const STOP_WORDS = new Set(
  "a an the of in are be by for on with that this it its as at or and if not was were will has have had can may which when where who whom what how given than then there their them they we you your our such used use using also any all each only other so do does done no".split(
    " ",
  ),
);
// Both weights were tuned on the dev split of `npm run eval`.
const SYNONYM_WEIGHT = 0.2;
/** For two neighbours joined into one word: `add slashes` also means `addslashes`. */
const JOINED_WEIGHT = 0.7;

/** Turns a question into unique search terms. Stop words count only when there is nothing else. */
export function createQuestionTerms(cutTerms: TermCutter): (question: string) => AskedTerm[] {
  const synonyms = createSynonyms(cutTerms);
  return (question) => {
    const words = question.match(/[\p{L}\p{N}_$]+/gu) ?? [];
    const significant = words.filter((word) => !STOP_WORDS.has(word.toLowerCase()));
    const terms = cutTerms((significant.length > 0 ? significant : words).join(" "));
    const weights = new Map(terms.map((term) => [term, 1]));
    const addOther = (term: string, weight: number) => {
      if (!weights.has(term)) weights.set(term, weight);
    };
    for (const term of new Set(terms))
      for (const other of synonyms.get(term) ?? []) addOther(other, SYNONYM_WEIGHT);
    for (const [at, term] of terms.slice(1).entries()) addOther(`${terms[at]}${term}`, JOINED_WEIGHT);
    return [...weights].map(([term, weight]) => ({ term, weight }));
  };
}
