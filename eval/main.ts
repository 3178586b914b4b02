// `npm run eval -- --repos FOLDER [--split dev|test] [--variant code|checkout] [--questions N] [--seed N] [--only
// NAME] [--agent] [--names] [--wordings]`
// Measures how well search finds code, on checkouts of the repositories in eval/repositories.ts. Without --repos it
// uses only this repository, which shows that it runs and little else.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { askAgentQuestions } from "./agent-questions.ts";
import { type Corpus, loadCorpus, type Variant } from "./corpus.ts";
import { askNames } from "./names.ts";
import { createBm25f, createKeywords, unitsOf } from "./reference.ts";
import { type Row, report } from "./report.ts";
import { commitOf, OWN_REPOSITORY, type Repository, repositoriesIn } from "./repositories.ts";
import { LIST_LENGTH, type Scores, scoreOf } from "./scores.ts";
import { searchSources } from "./searched.ts";
import { askWordings } from "./wordings.ts";

const { values } = parseArgs({
  options: {
    repos: { type: "string" },
    split: { type: "string", default: "dev" },
    variant: { type: "string", default: "code" },
    questions: { type: "string", default: "100" },
    seed: { type: "string", default: "7" },
    only: { type: "string" },
    agent: { type: "boolean", default: false },
    names: { type: "boolean", default: false },
    wordings: { type: "boolean", default: false },
  },
});
const [limit, seed] = [Number(values.questions), Number(values.seed)];
const variant: Variant = values.variant === "checkout" ? "checkout" : "code";
const home = join(import.meta.dirname, "..");

if (values.agent) {
  if (!values.repos) throw new Error("--agent needs --repos FOLDER");
  await askAgentQuestions(values.repos);
} else if (values.names) {
  if (!values.repos) throw new Error("--names needs --repos FOLDER");
  await askNames(values.repos, { split: values.split, questions: limit, seed, only: values.only });
} else if (values.wordings) {
  if (!values.repos) throw new Error("--wordings needs --repos FOLDER");
  await askWordings(values.repos, { seed, only: values.only });
} else await measure();

async function measure(): Promise<void> {
  const chosen: { repository: Repository; checkout: string }[] = values.repos
    ? repositoriesIn(values.repos)
        .filter(({ split, name }) => split === values.split && (values.only ?? name) === name)
        .map((repository) => ({ repository, checkout: join(values.repos ?? "", repository.name) }))
    : [{ repository: OWN_REPOSITORY, checkout: home }];
  if (!values.repos) console.log("No --repos: this asks about Octant's own code only. See docs/search.md.\n");
  const rows: Row[] = [];
  for (const { repository, checkout } of chosen) {
    const started = performance.now();
    const corpus = await loadCorpus(checkout, repository, { variant, questions: limit, seed });
    rows.push(...(await ask(corpus)));
    const took = Math.round((performance.now() - started) / 1_000);
    console.error(
      `${repository.name} ${commitOf(checkout)}: ${corpus.sources.length} files, ${corpus.questions.length} questions, ${took} s`,
    );
  }
  const commits = chosen.map(({ repository, checkout }) => `${repository.name} ${commitOf(checkout)}`);
  console.log(report(rows, { variant, split: values.split, seed, commits }));
}

async function ask(corpus: Corpus): Promise<Row[]> {
  const units = unitsOf(corpus);
  const [keywords, bm25f] = [createKeywords(units), createBm25f(units)];
  const searched = await searchSources(corpus.sources);
  try {
    const rows: Row[] = [];
    for (const question of corpus.questions) {
      const add = (method: string, scores: Scores) =>
        rows.push({ language: corpus.repository.language, method, scores });
      add("ripgrep, any word", scoreOf(question, keywords(question.text)));
      add("BM25F, tuned", scoreOf(question, bm25f(question.text)));
      for (const modality of ["text", "vector", "auto"] as const)
        add(modality, scoreOf(question, await searched.search(question.text, modality, LIST_LENGTH)));
    }
    return rows;
  } finally {
    await searched.close();
  }
}
