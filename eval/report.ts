import { EVAL_LANGUAGES } from "./repositories.ts";
import { bootstrap, meanOf, type Scores } from "./scores.ts";

/** The result of one method for one question. */
export interface Row {
  readonly language: string;
  readonly method: string;
  readonly scores: Scores;
}

export interface ReportOptions {
  readonly variant: string;
  readonly split: string;
  readonly seed: number;
  readonly commits: readonly string[];
}

const REFERENCE = "BM25F, tuned";

export function report(rows: readonly Row[], { variant, split, seed, commits }: ReportOptions): string {
  const methods = [...new Set(rows.map(({ method }) => method))];
  const languages = EVAL_LANGUAGES.filter((language) => rows.some((row) => row.language === language));
  const of = (method: string, language?: string) =>
    rows
      .filter((row) => row.method === method && (language ?? row.language) === row.language)
      .map(({ scores }) => scores);
  const meanOver = (method: string) => meanOf(languages.map((language) => meanOf(of(method, language))));
  const against = methods
    .filter((method) => method !== "auto")
    .map((method) => {
      const [auto, other] = [of("auto"), of(method)];
      const differences = auto.map(({ mrr }, at) => mrr - (other[at]?.mrr ?? 0));
      const { low, high } = bootstrap(differences, seed);
      const times = meanOver("auto").mrr / meanOver(method).mrr;
      return `auto against ${method}: ${times.toFixed(2)} times the MRR; difference ${signed(low)} to ${signed(high)} (paired bootstrap, 95 %)`;
    });
  return [
    `MRR@10 / recall@10 / precision@1, ${split} split, variant ${variant}, seed ${seed}`,
    "",
    line(["method", ...languages, "mean"]),
    line(["---", ...languages.map(() => "---"), "---"]),
    ...methods.map((method) =>
      line([
        method,
        ...languages.map((language) => figures(meanOf(of(method, language)))),
        `**${figures(meanOver(method))}**`,
      ]),
    ),
    "",
    `Questions: ${languages.map((language) => `${language} ${of(REFERENCE, language).length}`).join(", ")}.`,
    ...against,
    `Commits: ${commits.join(", ")}.`,
  ].join("\n");
}

const figures = ({ mrr, recall, first }: Scores) =>
  [mrr, recall, first].map((value) => value.toFixed(3)).join(" / ");
const signed = (value: number) => `${value >= 0 ? "+" : ""}${value.toFixed(3)}`;
const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
