// The CodeSearchNet method: the first sentence of a doc comment asks for the function that it documents.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { createGrammars, findSymbols, languageOf, type SourceSymbol } from "@octant/search";
import type { Project } from "./projects.ts";
import { withoutDocs } from "./without-docs.ts";

/** A file of the project as it is searched: without the comments that the questions are made of. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly symbols: readonly SourceSymbol[];
}

export interface Question {
  readonly text: string;
  /** What answers it: `path#Outer.inner`. */
  readonly answer: string;
}

export interface QuestionSet {
  readonly project: Project;
  readonly sources: readonly Source[];
  readonly questions: readonly Question[];
}

const CALLABLE: ReadonlySet<string> = new Set(["function", "method", "constructor"]);
export const isCallable = ({ kind }: { readonly kind: string }): boolean => CALLABLE.has(kind);

const MAX_FILE_CHARS = 400_000;
const MIN_WORDS = 4;
const MAX_WORDS = 40;

export async function askAbout(project: Project): Promise<QuestionSet> {
  const grammars = createGrammars();
  const sources: Source[] = [];
  const questions: Question[] = [];
  const asked = new Map<string, number>();
  for (const file of project.files) {
    const language = languageOf(file);
    const text = readFileSync(file, "utf8");
    if (!language || text.length > MAX_FILE_CHARS || isGenerated(text)) continue;
    const path = relative(project.folder, file);
    const documented = await findSymbols(grammars, language, text);
    const bare = await withoutDocs(grammars, language, text, documented);
    const symbols = await findSymbols(grammars, language, bare);
    sources.push({ path, text: bare, symbols });
    const there = new Set(symbols.map((symbol) => symbol.path));
    for (const symbol of documented.filter(isCallable)) {
      const question = firstSentence(symbol.doc ?? "");
      if (!question || !there.has(symbol.path)) continue;
      asked.set(question, (asked.get(question) ?? 0) + 1);
      questions.push({ text: question, answer: `${path}#${symbol.path}` });
    }
  }
  // A sentence that documents several functions asks for none of them.
  return { project, sources, questions: questions.filter(({ text }) => asked.get(text) === 1) };
}

const isGenerated = (text: string) => text.split("\n", 5).some((line) => line.length > 1_000);

export function firstSentence(doc: string): string | undefined {
  const paragraph =
    doc
      .split(/\n\s*\n|\n@|\n\s*:param|\n\s*Args:/)[0]
      ?.replace(/\s+/g, " ")
      .trim() ?? "";
  if (paragraph.startsWith("@")) return undefined;
  const sentence = /^.*?[.!?](?=\s|$)/.exec(paragraph)?.[0] ?? paragraph;
  const words = sentence.match(/\p{L}{2,}/gu) ?? [];
  return words.length >= MIN_WORDS && words.length <= MAX_WORDS ? sentence : undefined;
}
