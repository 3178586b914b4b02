// `npm run eval`: how well search finds code, on projects that its weights were not tuned on.
import { join } from "node:path";
import { chooseProjects, EVAL_LANGUAGES, type Half } from "./choose.ts";
import { callerQuestions, definitionQuestions, evenly } from "./name-questions.ts";
import { isCallable, type QuestionSet } from "./questions.ts";
import { createTally, LIST_LENGTH, meanOf, type Scores } from "./scores.ts";
import { type SearchedProject, searchProject } from "./searched-project.ts";

const isQuick = process.argv.includes("--quick");
const half: Half = process.argv.includes("--tuning") ? "tuning" : "reporting";
const EFFORT = isQuick
  ? { projectsPerLanguage: 3, sentences: 30, names: 10 }
  : { projectsPerLanguage: 12, sentences: 60, names: 20 };
const STRATEGIES = ["text", "vector", "auto"] as const;
/** Classes and lines are found too; only functions count here. */
const ASKED = 5 * LIST_LENGTH;

const repository = join(import.meta.dirname, "..");
const tallies = new Map<string, ReturnType<typeof createTally>>();
const tally = (name: string) => {
  const known = tallies.get(name) ?? createTally();
  tallies.set(name, known);
  return known;
};
let [callersFound, callersAsked] = [0, 0];

for await (const set of chooseProjects(repository, { half, ...EFFORT })) {
  const started = performance.now();
  const searched = await searchProject(set);
  try {
    await askSentences(set, searched);
    await askDefinitions(set, searched);
    await askCallers(set, searched);
    const { language, name } = set.project;
    const { chunks } = searched.index.counts();
    console.error(`${language} ${name}: ${chunks} chunks, ${Math.round(performance.now() - started)} ms`);
  } finally {
    await searched.close();
  }
}
console.log(report());

async function askSentences({ project, questions }: QuestionSet, searched: SearchedProject): Promise<void> {
  for (const { text, answer } of evenly(questions, EFFORT.sentences)) {
    for (const strategy of STRATEGIES) {
      const hits = (await searched.search(text, strategy, ASKED)).filter(isCallable);
      tally(`${project.language}/${strategy}`).add(
        hits.findIndex(({ path, symbol }) => `${path}#${symbol}` === answer),
      );
    }
  }
}

async function askDefinitions(set: QuestionSet, searched: SearchedProject): Promise<void> {
  for (const { name, answer } of definitionQuestions(set, EFFORT.names)) {
    const hits = await searched.search(`where is ${name} defined?`, "auto", LIST_LENGTH);
    tally("definitions").add(hits.findIndex(({ path, symbol }) => `${path}#${symbol}` === answer));
  }
}

async function askCallers(set: QuestionSet, searched: SearchedProject): Promise<void> {
  for (const { name, answers } of callerQuestions(set, EFFORT.names)) {
    const hits = await searched.search(`who calls ${name}?`, "auto", LIST_LENGTH);
    const found = new Set(hits.map(({ path, symbol }) => `${path}#${symbol ?? ""}`));
    callersFound += found.intersection(answers).size;
    callersAsked += Math.min(LIST_LENGTH, answers.size);
  }
}

function report(): string {
  const rows = STRATEGIES.map((strategy) => {
    const all = EVAL_LANGUAGES.map((language) => tally(`${language}/${strategy}`).scores());
    return [strategy, ...all.map(figures), `**${figures(meanOf(all))}**`];
  });
  const definitions = tally("definitions").scores();
  return [
    `MRR@10 / recall@10 / precision@1, ${half} half`,
    "",
    row(["strategy", ...EVAL_LANGUAGES, "mean"]),
    row(["---", ...EVAL_LANGUAGES.map(() => "---"), "---"]),
    ...rows.map(row),
    "",
    `Questions: ${EVAL_LANGUAGES.map((language) => `${language} ${tally(`${language}/auto`).scores().questions}`).join(", ")}.`,
    `"where is X defined": MRR@10 ${definitions.mrr.toFixed(3)} of ${definitions.questions}.`,
    `"who calls X": recall@10 ${(callersFound / callersAsked).toFixed(3)} of ${callersAsked} callers.`,
  ].join("\n");
}

function figures({ mrr, recall, first }: Scores): string {
  return [mrr, recall, first].map((value) => value.toFixed(3)).join(" / ");
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
