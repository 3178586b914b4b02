// `npm run eval -- --repos FOLDER --wordings`: the questions of eval/wordings with and without the caller's wordings,
// and with those of another question. A language model wrote the wordings from the questions alone.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadCorpus, type Question } from "./corpus.ts";
import { type Repository, repositoriesIn } from "./repositories.ts";
import { LIST_LENGTH, meanOf, type Scores, scoreOf } from "./scores.ts";
import { searchSources } from "./searched.ts";

const FOLDER = join(import.meta.dirname, "wordings");
/** Every third question is set aside: no weight was chosen with it. */
const isSetAside = (at: number) => at % 3 === 2;
/** How far away the other question is whose wordings mislead. */
const DISTANCE = 7;

interface Row {
  readonly language: string;
  readonly part: "tuned" | "set aside";
  readonly method: string;
  readonly scores: Scores;
}

export async function askWordings(
  folder: string,
  { seed, only }: { seed: number; only: string | undefined },
): Promise<void> {
  const rows: Row[] = [];
  for (const repository of repositoriesIn(folder).filter(({ name }) => (only ?? name) === name)) {
    const wordings = loadWordings(repository);
    if (wordings.size === 0) continue;
    const corpus = await loadCorpus(join(folder, repository.name), repository, {
      variant: "code",
      questions: Number.POSITIVE_INFINITY,
      seed,
    });
    const searched = await searchSources(corpus.sources);
    try {
      const known = corpus.questions.filter(({ text }) => wordings.has(text));
      const alsoOf = (question: Question | undefined) => wordings.get(question?.text ?? "") ?? [];
      for (const [at, question] of known.entries()) {
        const methods = {
          "the question alone": [],
          "with its wordings": alsoOf(question),
          "with the wordings of another question": alsoOf(known[(at + DISTANCE) % known.length]),
        };
        for (const [method, also] of Object.entries(methods)) {
          const listed = await searched.search(question.text, "auto", LIST_LENGTH, also);
          const part = isSetAside(at) ? "set aside" : "tuned";
          rows.push({ language: repository.language, part, method, scores: scoreOf(question, listed) });
        }
      }
      console.error(`${repository.name}: ${known.length} questions`);
    } finally {
      await searched.close();
    }
  }
  console.log(tableOf(rows));
}

function loadWordings({ name }: Repository): ReadonlyMap<string, readonly string[]> {
  const file = join(FOLDER, `${name}.txt`);
  if (!existsSync(file)) return new Map();
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return new Map(
    lines.map((line) => {
      const [question = "", wordings = ""] = line.split(" | ");
      return [question, wordings.split("; ")];
    }),
  );
}

/** Means over the languages, as in the other tables. */
function tableOf(rows: readonly Row[]): string {
  const groups = Map.groupBy(rows, ({ part, method }) => `${part} | ${method}`);
  return [
    "MRR@10 / recall@10 / precision@1",
    "",
    "| questions | asked | figures |",
    "| --- | --- | --- |",
    ...[...groups].map(([name, group]) => {
      const byLanguage = Map.groupBy(group, ({ language }) => language);
      const means = [...byLanguage.values()].map((own) => meanOf(own.map(({ scores }) => scores)));
      const { mrr, recall, first } = meanOf(means);
      const figures = [mrr, recall, first].map((value) => value.toFixed(3)).join(" / ");
      return `| ${group.length} ${name} | ${figures} |`;
    }),
  ].join("\n");
}
