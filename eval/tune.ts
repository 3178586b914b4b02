// Finds the weights of `LEXICAL_WEIGHTS` and `VECTOR_WEIGHT` on the tuning half: one weight after the other is moved
// as long as that helps. `node eval/tune.ts`, some minutes; what it prints is written into the code by hand.
import { join } from "node:path";
import {
  createChunkRanker,
  createGrammars,
  createLatentSpace,
  createTermCutter,
  FIELDS,
  type FieldTerms,
  LEXICAL_WEIGHTS,
  type LexicalWeights,
  learnLatentSpace,
  meaningOf,
  parseFile,
  parseTerms,
  VECTOR_WEIGHT,
} from "@octant/search";
import { chooseProjects, EVAL_LANGUAGES } from "./choose.ts";
import { evenly } from "./name-questions.ts";
import { isCallable, type QuestionSet } from "./questions.ts";
import { createTally, LIST_LENGTH } from "./scores.ts";

const PROJECTS_PER_LANGUAGE = 8;
const SENTENCES = 40;
const FACTORS = [0.5, 0.7, 1.4, 2];

interface Weights {
  readonly lexical: LexicalWeights;
  readonly vectorWeight: number;
}

interface Prepared {
  readonly language: string;
  readonly chunks: readonly {
    readonly terms: FieldTerms;
    readonly vector: Float32Array;
    readonly key: string;
  }[];
  readonly questions: readonly {
    readonly terms: readonly string[];
    readonly vector: Float32Array;
    readonly answer: string;
  }[];
}

const cutTerms = createTermCutter();
const prepared: Prepared[] = [];
const choice = { half: "tuning", projectsPerLanguage: PROJECTS_PER_LANGUAGE } as const;
for await (const set of chooseProjects(join(import.meta.dirname, ".."), choice))
  prepared.push(await prepare(set));

let weights: Weights = { lexical: LEXICAL_WEIGHTS, vectorWeight: VECTOR_WEIGHT };
let best = await score(weights);
console.log(best.toFixed(4), "to begin with");
for (let isBetter = true; isBetter; ) {
  isBetter = false;
  for (const [name, move] of moves()) {
    for (const factor of FACTORS) {
      const moved = move(weights, factor);
      const figure = await score(moved);
      if (figure <= best + 0.0005) continue;
      [weights, best, isBetter] = [moved, figure, true];
      console.log(best.toFixed(4), name, factor);
    }
  }
}
console.log(JSON.stringify(weights, null, 2));

type Move = (weights: Weights, factor: number) => Weights;

function moves(): [string, Move][] {
  const inLexical = (part: "weights" | "lengthPenalty", field: (typeof FIELDS)[number]): Move => {
    // A penalty above one would turn the shortest fields into the worst.
    const most = part === "lengthPenalty" ? 1 : Number.POSITIVE_INFINITY;
    return ({ lexical, vectorWeight }, factor) => {
      const value = Math.min(most, round(lexical[part][field] * factor));
      return { lexical: { ...lexical, [part]: { ...lexical[part], [field]: value } }, vectorWeight };
    };
  };
  // Sentences are asked of code without doc comments, which says nothing about their weight.
  const fields = FIELDS.filter((field) => field !== "doc");
  return [
    [
      "vector",
      ({ lexical, vectorWeight }, factor) => ({ lexical, vectorWeight: round(vectorWeight * factor) }),
    ],
    [
      "saturation",
      ({ lexical, vectorWeight }, factor) => ({
        lexical: { ...lexical, saturation: round(lexical.saturation * factor) },
        vectorWeight,
      }),
    ],
    ...fields.map((field): [string, Move] => [`weight of ${field}`, inLexical("weights", field)]),
    ...fields.map((field): [string, Move] => [`penalty of ${field}`, inLexical("lengthPenalty", field)]),
  ];
}

async function prepare({ project, sources, questions }: QuestionSet): Promise<Prepared> {
  const grammars = createGrammars();
  const chunks: { terms: FieldTerms; key: string }[] = [];
  for (const { path, text } of sources) {
    const parsed = await parseFile(grammars, cutTerms, path, text);
    for (const chunk of parsed.chunks) {
      const symbol = chunk.symbol === null ? undefined : parsed.symbols[chunk.symbol];
      const key = symbol && isCallable(symbol) ? `${path}#${symbol.path}` : "";
      chunks.push({ terms: parseTerms(chunk.terms), key });
    }
  }
  const space = createLatentSpace(
    learnLatentSpace(evenly(chunks, 6_000).map(({ terms }) => meaningOf(terms))),
  );
  return {
    language: project.language,
    chunks: chunks.map((chunk) => ({ ...chunk, vector: space.place(meaningOf(chunk.terms)) })),
    questions: evenly(questions, SENTENCES).map(({ text, answer }) => {
      const terms = cutTerms(text);
      return { terms, vector: space.place(terms), answer };
    }),
  };
}

/** The mean over the languages of MRR@10 and, for a quarter, recall@10. */
async function score({ lexical, vectorWeight }: Weights): Promise<number> {
  const tallies = new Map(EVAL_LANGUAGES.map((language) => [String(language), createTally()]));
  for (const { language, chunks, questions } of prepared) {
    const ranker = createChunkRanker({ lexical, vectorWeight });
    for (const [id, { terms }] of chunks.entries()) ranker.add(id, 0, terms);
    await ranker.place(chunks.map(({ vector }, id) => ({ id, vector })));
    for (const { terms, vector, answer } of questions) {
      const ranked = await ranker.rank({
        terms,
        vector,
        strategies: ["text", "vector"],
        limit: 4 * LIST_LENGTH,
      });
      const keys = ranked.map(({ id }) => chunks[id]?.key).filter(Boolean);
      tallies.get(language)?.add(keys.indexOf(answer));
    }
  }
  const all = [...tallies.values()].map((tally) => tally.scores());
  return all.reduce((sum, { mrr, recall }) => sum + 0.75 * mrr + 0.25 * recall, 0) / all.length;
}

function round(value: number): number {
  return Number(value.toPrecision(2));
}
