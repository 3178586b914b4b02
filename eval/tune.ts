// `node eval/tune.ts FOLDER`: adjusts `LEXICAL_WEIGHTS` and `VECTOR_WEIGHT` one at a time on the dev split, as long
// as that helps, and prints them. They are copied into the code by hand.
import { join } from "node:path";
import {
  createQuestionTerms,
  createTermCutter,
  FIELDS,
  keptShares,
  LEXICAL_WEIGHTS,
  type LexicalWeights,
  rarityOf,
  VECTOR_WEIGHT,
} from "@octant/search";
import { loadCorpus } from "./corpus.ts";
import { type Prepared, prepare } from "./prepared.ts";
import { repositoriesIn } from "./repositories.ts";
import { meanOf, type Scores, scoreOf } from "./scores.ts";

const QUESTIONS = 100;
const SEED = 7;
const FACTORS = [0.6, 0.8, 1.3, 1.7];
/** Smaller gains are noise. */
const MIN_GAIN = 0.0005;

interface Weights {
  readonly lexical: LexicalWeights;
  readonly vectorWeight: number;
}

const folder = process.argv[2];
if (!folder) throw new Error("usage: node eval/tune.ts FOLDER");
const askedTerms = createQuestionTerms(createTermCutter());
const prepared: Prepared[] = [];
for (const repository of repositoriesIn(folder).filter(({ split }) => split === "dev")) {
  const options = { variant: "code", questions: QUESTIONS, seed: SEED } as const;
  prepared.push(await prepare(await loadCorpus(join(folder, repository.name), repository, options)));
}

let weights: Weights = { lexical: LEXICAL_WEIGHTS, vectorWeight: VECTOR_WEIGHT };
let best = figureOf(weights);
console.log(best.toFixed(4), "to begin with");
for (let isBetter = true; isBetter; ) {
  isBetter = false;
  for (const [name, move] of moves())
    for (const factor of FACTORS) {
      const moved = move(weights, factor);
      const figure = figureOf(moved);
      if (figure <= best + MIN_GAIN) continue;
      [weights, best, isBetter] = [moved, figure, true];
      console.log(best.toFixed(4), name, factor);
    }
}
console.log(JSON.stringify(weights, null, 2));

type Move = (weights: Weights, factor: number) => Weights;

function moves(): [string, Move][] {
  const inFields =
    (part: "weights" | "lengthPenalty", field: (typeof FIELDS)[number]): Move =>
    ({ lexical, vectorWeight }, factor) => {
      // A penalty above one would make the shortest fields the worst.
      const most = part === "lengthPenalty" ? 1 : Number.POSITIVE_INFINITY;
      const value = Math.min(most, lexical[part][field] * factor);
      return { lexical: { ...lexical, [part]: { ...lexical[part], [field]: value } }, vectorWeight };
    };
  // The questions are asked of code without doc comments, so their weight cannot be tuned.
  const fields = FIELDS.filter((field) => field !== "doc");
  return [
    ["vector", ({ lexical, vectorWeight }, factor) => ({ lexical, vectorWeight: vectorWeight * factor })],
    [
      "saturation",
      ({ lexical, vectorWeight }, factor) => ({
        lexical: { ...lexical, saturation: lexical.saturation * factor },
        vectorWeight,
      }),
    ],
    ...fields.map((field): [string, Move] => [`weight of ${field}`, inFields("weights", field)]),
    ...fields.map((field): [string, Move] => [`penalty of ${field}`, inFields("lengthPenalty", field)]),
  ];
}

/** The mean over the languages of MRR@10 plus a quarter of recall@10. */
function figureOf(tried: Weights): number {
  const byLanguage = Map.groupBy(prepared, ({ language }) => language);
  const means = [...byLanguage.values()].map((projects) =>
    meanOf(projects.flatMap((one) => ask(one, tried))),
  );
  return means.reduce((sum, { mrr, recall }) => sum + mrr + 0.25 * recall, 0) / means.length;
}

function ask({ chunks, postings, questions }: Prepared, { lexical, vectorWeight }: Weights): Scores[] {
  return questions.map(({ question, cosines }) => {
    const words = new Float64Array(chunks.length);
    for (const { term, weight } of askedTerms(question.text)) {
      const list = postings.get(term);
      if (!list) continue;
      const rarity = weight * rarityOf(list.chunks.length, chunks.length);
      for (const [n, at] of list.chunks.entries()) {
        const sum = weigh(list.counts[n] ?? [], chunks[at]?.lengths ?? [], lexical);
        words[at] = (words[at] ?? 0) + (rarity * sum) / (lexical.saturation + sum);
      }
    }
    const [ofWords, ofMeaning] = [standardise(words), standardise(cosines)];
    const shares = keptShares(question.text);
    const scores = Float64Array.from(chunks, ({ traits }, at) => {
      const score = (ofWords[at] ?? 0) + vectorWeight * (ofMeaning[at] ?? 0);
      return score > 0 ? score * (shares[traits] ?? 1) : score;
    });
    const order = [...scores.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
    return scoreOf(
      question,
      order.slice(0, 10).flatMap((at) => chunks[at] ?? []),
    );
  });
}

function weigh(counts: readonly number[], lengths: readonly number[], lexical: LexicalWeights): number {
  let sum = 0;
  for (const [at, field] of FIELDS.entries()) {
    if (!counts[at]) continue;
    const b = lexical.lengthPenalty[field];
    const length = 1 - b + (b * (lengths[at] ?? 0)) / lexical.typicalLength[field];
    sum += (lexical.weights[field] * counts[at]) / length;
  }
  return sum;
}

function standardise(scores: Float64Array | Float32Array): Float64Array {
  let [sum, squares] = [0, 0];
  for (const score of scores) {
    sum += score;
    squares += score * score;
  }
  const mean = sum / scores.length;
  const deviation = Math.sqrt(Math.max(0, squares / scores.length - mean * mean)) || 1;
  return Float64Array.from(scores, (score) => (score - mean) / deviation);
}
