// A checkout as it is searched: without doc comments, which become the questions about it.
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createGrammars, findSymbols, type Grammars, languageOf, type SourceSymbol } from "@octant/search";
import { createRandom, shuffled } from "./random.ts";
import type { Repository } from "./repositories.ts";
import { questionFrom } from "./sentence.ts";
import { stripDocs } from "./strip-docs.ts";

/** code: the project's own code. checkout: everything in it, with tests, docs and examples. */
export type Variant = "code" | "checkout";

export interface Source {
  readonly path: string;
  readonly text: string;
  readonly symbols: readonly SourceSymbol[];
}

/** Lines count from 0. */
export interface Place {
  readonly path: string;
  readonly firstLine: number;
  readonly lastLine: number;
}

export interface Question {
  readonly text: string;
  readonly answers: readonly Place[];
}

export interface Corpus {
  readonly repository: Repository;
  readonly sources: readonly Source[];
  readonly questions: readonly Question[];
}

export interface CorpusOptions {
  readonly variant: Variant;
  readonly questions: number;
  readonly seed: number;
}

const MAX_FILE_CHARS = 600_000;
const MAX_FILES = 9_000;
/** A sentence above more functions than this is not a question about any of them. */
const MAX_ANSWERS = 3;
const MAX_PER_FILE = 12;

export async function loadCorpus(
  checkout: string,
  repository: Repository,
  { variant, questions: limit, seed }: CorpusOptions,
): Promise<Corpus> {
  const grammars = createGrammars();
  const sources: Source[] = [];
  const asked = new Map<string, { text: string; answers: Place[] }>();
  for (const path of pathsIn(checkout)) {
    const isCode = repository.code.test(path) && !repository.notCode?.test(path);
    if (!isCode && variant === "code") continue;
    const text = readText(join(checkout, path));
    if (text === undefined) continue;
    const language = languageOf(path);
    const bare = language ? await stripDocs(grammars, language, text) : text;
    const symbols = language ? await findSymbols(grammars, language, bare) : [];
    sources.push({ path, text: bare, symbols });
    if (isCode && !path.endsWith(".d.ts")) await ask(grammars, { path, text, symbols }, asked);
  }
  const fit = [...asked.values()].filter(
    ({ answers }) =>
      answers.length <= MAX_ANSWERS && answers.some(({ firstLine, lastLine }) => lastLine - firstLine >= 2),
  );
  const perFile = new Map<string, number>();
  const questions = shuffled(fit, createRandom(seed)).filter(({ answers: [first] }) => {
    const count = (perFile.get(first?.path ?? "") ?? 0) + 1;
    perFile.set(first?.path ?? "", count);
    return count <= MAX_PER_FILE;
  });
  return { repository, sources, questions: questions.slice(0, limit) };
}

async function ask(
  grammars: Grammars,
  { path, text, symbols }: Source,
  asked: Map<string, { text: string; answers: Place[] }>,
): Promise<void> {
  const language = languageOf(path);
  if (!language) return;
  const there = new Map(symbols.map((symbol) => [`${symbol.path} ${symbol.nameRange.start.line}`, symbol]));
  for (const documented of await findSymbols(grammars, language, text)) {
    const { name, doc } = documented;
    const symbol = there.get(`${documented.path} ${documented.nameRange.start.line}`);
    if (!symbol || !doc || !isCallable(documented) || !hasBody(documented, { path, text })) continue;
    if (documented.kind === "constructor" || name === "constructor" || /^__|^test/i.test(name)) continue;
    const question = questionFrom(doc, name);
    if (!question) continue;
    const key = question.toLowerCase();
    const known = asked.get(key) ?? { text: question, answers: [] };
    known.answers.push({ path, firstLine: symbol.range.start.line, lastLine: symbol.range.end.line });
    asked.set(key, known);
  }
}

const CALLABLE: ReadonlySet<string> = new Set(["function", "method", "constructor"]);
export const isCallable = ({ kind }: { readonly kind: string }): boolean => CALLABLE.has(kind);
/** Definitions have one, declarations do not; in Python all have one. */
export const hasBody = (
  { start, end }: SourceSymbol,
  { path, text }: Pick<Source, "path" | "text">,
): boolean => /\.pyi?$/.test(path) || /\{|=>/.test(text.slice(start, end));

function pathsIn(checkout: string): string[] {
  const entries = globSync("**/*", { cwd: checkout, exclude: (name) => SKIPPED.test(name) });
  return entries.sort().slice(0, MAX_FILES * 3);
}
const SKIPPED = /(?:^|\/)(?:\.git|node_modules|vendor|\.commit)(?:\/|$)/;

function readText(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size > MAX_FILE_CHARS) return undefined;
  const bytes = readFileSync(file);
  return bytes.includes(0) ? undefined : bytes.toString("utf8").replace(/\r\n?/g, "\n");
}
