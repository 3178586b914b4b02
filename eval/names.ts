// Compares search.query with code.search_symbol on queries by name, on whole checkouts.
import { join } from "node:path";
import { createGrammars, findSymbols, languageOf } from "@octant/search";
import { sourcesIn } from "./agent-questions.ts";
import { createRandom, shuffled } from "./random.ts";
import { commitOf, repositoriesIn } from "./repositories.ts";
import { bootstrap, LIST_LENGTH } from "./scores.ts";
import { type Listed, searchSources } from "./searched.ts";

export interface NameOptions {
  readonly split: string;
  readonly questions: number;
  readonly seed: number;
  readonly only?: string | undefined;
}

interface Target {
  readonly file: string;
  readonly path: string;
  readonly name: string;
}

/** The forms of a query for one symbol. */
const FORMS: Readonly<Record<string, (target: Target, random: () => number) => string | undefined>> = {
  name: ({ name }) => name,
  "outer and name": ({ path }) => (path.includes(".") ? path.split(".").slice(-2).join(".") : undefined),
  "other case": ({ name }) => name.toLowerCase(),
  beginning: ({ name }) => (name.length >= 8 ? name.slice(0, Math.ceil(name.length * 0.7)) : undefined),
  "its words": ({ name }) => {
    const words = wordsOf(name);
    return words.length > 1 ? words.join(" ") : undefined;
  },
  "its words in the other style": ({ name }) => {
    const [first = "", ...rest] = wordsOf(name);
    if (rest.length === 0) return undefined;
    return name.includes("_")
      ? first + rest.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("")
      : [first, ...rest].join("_");
  },
  "last words": ({ name }) => {
    const words = wordsOf(name).slice(1);
    return words.length > 1 ? words.join("_") : undefined;
  },
  misspelt: ({ name }, random) => (name.length >= 8 ? misspell(name, random) : undefined),
};
const MIN_NAME_CHARS = 4;

const wordsOf = (name: string): string[] =>
  (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []).map((word) => word.toLowerCase());

/** Swaps two neighbouring letters. */
function misspell(name: string, random: () => number): string {
  const at = 1 + Math.floor(random() * (name.length - 2));
  return `${name.slice(0, at)}${name[at + 1] ?? ""}${name[at]}${name.slice(at + 2)}`;
}

export async function askNames(folder: string, { split, questions, seed, only }: NameOptions): Promise<void> {
  const rows: { form: string; symbol: number; query: number }[] = [];
  const chosen = repositoriesIn(folder).filter(
    (one) => one.split === split && (only ?? one.name) === one.name,
  );
  for (const { name } of chosen) {
    const sources = sourcesIn(join(folder, name));
    const targets = await targetsIn(sources, questions, seed);
    const searched = await searchSources(sources);
    const random = createRandom(seed);
    try {
      for (const target of targets)
        for (const [form, toQuery] of Object.entries(FORMS)) {
          const query = toQuery(target, random);
          if (query === undefined) continue;
          const symbol = reciprocal(target, await searched.searchSymbol(query, LIST_LENGTH));
          rows.push({
            form,
            symbol,
            query: reciprocal(target, await searched.search(query, "auto", LIST_LENGTH)),
          });
        }
    } finally {
      await searched.close();
    }
    console.error(`${name} ${commitOf(join(folder, name))}: ${targets.length} names`);
  }
  console.log(
    `MRR@10 of a definition asked for by its name, ${split} split, whole checkouts, seed ${seed}\n`,
  );
  console.log(
    "| asked by | questions | code.search_symbol | search.query | difference (paired bootstrap, 95 %) |",
  );
  console.log("| --- | --- | --- | --- | --- |");
  for (const form of Object.keys(FORMS)) {
    const of = rows.filter((row) => row.form === form);
    const mean = (value: (row: (typeof rows)[number]) => number) =>
      (of.reduce((sum, row) => sum + value(row), 0) / Math.max(1, of.length)).toFixed(3);
    const { low, high } = bootstrap(
      of.map(({ symbol, query }) => query - symbol),
      seed,
    );
    console.log(
      `| ${form} | ${of.length} | ${mean((row) => row.symbol)} | ${mean((row) => row.query)} | ${low.toFixed(3)} to ${high.toFixed(3)} |`,
    );
  }
}

/** Symbols with a unique name, so that exactly one location is right. */
async function targetsIn(sources: readonly { path: string; text: string }[], count: number, seed: number) {
  const grammars = createGrammars();
  const byName = new Map<string, Target[]>();
  for (const { path: file, text } of sources) {
    const language = languageOf(file);
    if (!language || /\.(?:json|ya?ml|md|html?|css)$/.test(file)) continue;
    for (const { name, path, kind } of await findSymbols(grammars, language, text)) {
      const own = byName.get(name.toLowerCase()) ?? [];
      if (kind !== "variable" && kind !== "field") own.push({ file, path, name });
      byName.set(name.toLowerCase(), own);
    }
  }
  const only = [...byName.values()].flatMap((own) => (own.length === 1 ? own : []));
  const long = only.filter(({ name }) => name.length >= MIN_NAME_CHARS);
  return shuffled(long, createRandom(seed)).slice(0, count);
}

function reciprocal({ file, path }: Target, listed: readonly Listed[]): number {
  const at = listed.findIndex((one) => one.path === file && one.symbol === path);
  return at < 0 ? 0 : 1 / (at + 1);
}
