// The CodeSearchNet method: the first sentence of a doc comment asks for the function that it documents.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { createGrammars, findSymbols, languageOf, type SourceSymbol } from "@octant/search";
import type { Project } from "./projects.ts";

export interface Unit {
  readonly file: string;
  readonly symbol: SourceSymbol;
  /** Its text without comments that document it. */
  readonly body: string;
}

export interface Question {
  readonly text: string;
  /** Which unit answers it. */
  readonly answer: number;
}

export interface QuestionSet {
  readonly project: Project;
  readonly units: readonly Unit[];
  readonly questions: readonly Question[];
}

const CALLABLE: ReadonlySet<string> = new Set(["function", "method", "constructor"]);
const MAX_FILE_CHARS = 400_000;
const MIN_WORDS = 4;

export async function askAbout(project: Project, root: string): Promise<QuestionSet> {
  const grammars = createGrammars();
  const units: Unit[] = [];
  const questions: Question[] = [];
  const asked = new Map<string, number>();
  for (const file of project.files) {
    const language = languageOf(file);
    const text = readFileSync(file, "utf8");
    if (!language || text.length > MAX_FILE_CHARS || isGenerated(text)) continue;
    for (const symbol of await findSymbols(grammars, language, text)) {
      if (!CALLABLE.has(symbol.kind)) continue;
      const code = text.slice(symbol.start, symbol.end);
      units.push({
        file: relative(root, file),
        symbol,
        body: withoutDocs(code, symbol.doc, language.docstrings === true),
      });
      const question = firstSentence(symbol.doc ?? "");
      if (!question) continue;
      asked.set(question, (asked.get(question) ?? 0) + 1);
      questions.push({ text: question, answer: units.length - 1 });
    }
  }
  // A sentence that documents several functions asks for none of them.
  return { project, units, questions: questions.filter(({ text }) => asked.get(text) === 1) };
}

const isGenerated = (text: string) => text.split("\n", 5).some((line) => line.length > 1_000);

function withoutDocs(code: string, doc: string | null, docstrings: boolean): string {
  if (!docstrings || doc === null) return code;
  return code.replace(/("""|''')[\s\S]*?\1/, "");
}

export function firstSentence(doc: string): string | undefined {
  const paragraph =
    doc
      .split(/\n\s*\n|\n@|\n\s*:param|\n\s*Args:/)[0]
      ?.replace(/\s+/g, " ")
      .trim() ?? "";
  if (paragraph.startsWith("@")) return undefined;
  const sentence = /^.*?[.!?](?=\s|$)/.exec(paragraph)?.[0] ?? paragraph;
  const words = sentence.match(/\p{L}{2,}/gu) ?? [];
  return words.length >= MIN_WORDS && words.length <= 40 ? sentence : undefined;
}
