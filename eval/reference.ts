// The baselines for search: a well tuned BM25F over functions, and ripgrep's matches for the words.
import { createTermCutter } from "@octant/search";
import { type Corpus, hasBody, isCallable, type Place } from "./corpus.ts";

/** Ranks the functions of a project for a question, the best first. */
export type Reference = (question: string) => readonly Place[];

interface Unit extends Place {
  readonly name: string;
  readonly container: string;
  readonly signature: string;
  readonly text: string;
}

const STOP_WORDS = new Set(
  "a an the of to in is are be by for on with that this it its as at from or and if not was were will has have had can may which when where who whom what how given into than then there their them they we you your our such used use using also any all each only other so do does done no".split(
    " ",
  ),
);
const LISTED = 10;

export function unitsOf({ sources }: Corpus): Unit[] {
  return sources.flatMap(({ path, text, symbols }) =>
    symbols
      .filter((symbol) => isCallable(symbol) && hasBody(symbol, { path, text }))
      .map(({ name, path: full, signature, range, start, end }) => ({
        path,
        name,
        container: full.slice(0, full.lastIndexOf(name)),
        signature,
        text: text.slice(start, end),
        firstLine: range.start.line,
        lastLine: range.end.line,
      })),
  );
}

/** The weights that won on other repositories, before ours were tuned. */
const FIELDS = [
  { weight: 12, penalty: 0.3, text: ({ name }: Unit) => name },
  { weight: 4, penalty: 0.3, text: ({ container }: Unit) => container },
  { weight: 2, penalty: 0.3, text: ({ path }: Unit) => path.replace(/\.[a-z]+$/, "") },
  { weight: 0.5, penalty: 0.75, text: ({ text }: Unit) => text },
  { weight: 1, penalty: 0.5, text: ({ signature }: Unit) => signature },
] as const;
const SATURATION = 3;

export function createBm25f(units: readonly Unit[]): Reference {
  const cutTerms = createTermCutter();
  const weights = units.map(() => new Map<string, number>());
  for (const { weight, penalty, text } of FIELDS) {
    const terms = units.map((unit) => cutTerms(text(unit)));
    const mean = terms.reduce((sum, { length }) => sum + length, 0) / Math.max(1, units.length) || 1;
    for (const [at, own] of terms.entries()) {
      const each = weight / (1 - penalty + (penalty * own.length) / mean);
      const sums = weights[at];
      for (const term of own) sums?.set(term, (sums.get(term) ?? 0) + each);
    }
  }
  const postings = new Map<string, [number, number][]>();
  for (const [at, sums] of weights.entries())
    for (const [term, sum] of sums) {
      const list = postings.get(term) ?? [];
      list.push([at, sum / (SATURATION + sum)]);
      postings.set(term, list);
    }
  return (question) => {
    const words = (question.match(/[A-Za-z_$][\w$]*|\d+/g) ?? []).filter(
      (word) => !STOP_WORDS.has(word.toLowerCase()),
    );
    const scores = new Float64Array(units.length);
    for (const term of new Set(cutTerms(words.join(" ")))) {
      const list = postings.get(term) ?? [];
      const rarity = Math.log(1 + (units.length - list.length + 0.5) / (list.length + 0.5));
      for (const [at, weight] of list) scores[at] = (scores[at] ?? 0) + rarity * weight;
    }
    return top(scores, units);
  };
}

/** Like `rg -i -e word -e word`: a function counts by its best line, then by the number of its words. */
export function createKeywords(units: readonly Unit[]): Reference {
  const texts = units.map(({ text }) => text.toLowerCase());
  return (question) => {
    const words = [
      ...new Set((question.match(/[A-Za-z_$][\w$]*/g) ?? []).map((word) => word.toLowerCase())),
    ].filter((word) => word.length > 2 && !STOP_WORDS.has(word));
    const scores = Float64Array.from(texts, (text) => {
      const held = words.filter((word) => text.includes(word));
      if (held.length < Math.max(1, Math.floor(words.length / 4))) return 0;
      const lines = text.split("\n");
      const best = Math.max(...lines.map((line) => held.filter((word) => line.includes(word)).length));
      return best * 1e4 + held.length * 1e2 + 1 / lines.length;
    });
    return top(scores, units);
  };
}

function top(scores: Float64Array, units: readonly Unit[]): Place[] {
  return [...scores.keys()]
    .filter((at) => (scores[at] ?? 0) > 0)
    .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b)
    .slice(0, LISTED)
    .flatMap((at) => units[at] ?? []);
}
