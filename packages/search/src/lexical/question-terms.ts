import type { TermCutter } from "../text/terms.ts";

/** Words that say nothing about code. `is`, `to`, `from` and `into` do: names begin with them. */
const STOP_WORDS = new Set(
  "a an the of in are be by for on with that this it its as at or and if not was were will has have had can may which when where who whom what how given than then there their them they we you your our such used use using also any all each only other so do does done no".split(
    " ",
  ),
);

/** The terms that a question is compared by, each once. A question of stop words alone is compared by these. */
export function questionTerms(question: string, cutTerms: TermCutter): string[] {
  const words = question.match(/[\p{L}\p{N}_$]+/gu) ?? [];
  const telling = words.filter((word) => !STOP_WORDS.has(word.toLowerCase()));
  return [...new Set(cutTerms((telling.length > 0 ? telling : words).join(" ")))];
}
