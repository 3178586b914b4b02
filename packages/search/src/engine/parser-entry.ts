// A thread that parses files and embeds their chunks, which is most of the work of indexing.
import { parentPort } from "node:worker_threads";
import { createStructureFinder, type StructureFinder } from "../structure/find-structures.ts";
import { createGrammars, type Grammars } from "../syntax/grammars.ts";
import type { Language } from "../syntax/language.ts";
import { languageOf } from "../syntax/languages/index.ts";
import { findCalls, findOccurrences } from "../syntax/occurrences.ts";
import { findSymbols } from "../syntax/symbols.ts";
import { findSyntaxErrors } from "../syntax/syntax-errors.ts";
import { createFileParser, encodeFile, type FileParser } from "./parse-file.ts";
import type { FileState } from "./store.ts";
import { answerCalls } from "./thread.ts";

const grammars = createGrammars();
// Loaded on first use: syntax queries do not need the word table.
let parseFile: FileParser | undefined;
// The files of one search arrive one after the other, so its pattern is parsed once.
let finder: { pattern: string; find: StructureFinder } | undefined;

/** Nothing is found in a file without a grammar. */
const inLanguage =
  <T, M extends unknown[]>(
    find: (grammars: Grammars, language: Language, text: string, ...more: M) => Promise<T[]>,
  ) =>
  async (path: string, text: string, ...more: M): Promise<T[]> => {
    const language = languageOf(path);
    return language ? find(grammars, language, text, ...more) : [];
  };

const calls = {
  /** The file for the index, as written by `encodeFile`. */
  async parse(path: string, text: string, state: FileState): Promise<Uint8Array<ArrayBuffer>> {
    parseFile ??= createFileParser(grammars);
    return encodeFile({ state, parsed: await parseFile(path, text) });
  },
  /** undefined when the pattern does not parse in the file's language. */
  async structures(path: string, text: string, pattern: string) {
    if (finder?.pattern !== pattern) finder = { pattern, find: createStructureFinder(grammars, pattern) };
    const language = languageOf(path);
    return language && finder.find(language, text);
  },
  occurrences: inLanguage(findOccurrences),
  symbols: inLanguage(findSymbols),
  /** All calls, or only those of one name. */
  calls: inLanguage(findCalls),
  syntaxErrors: inLanguage(findSyntaxErrors),
};
export type ParserCalls = typeof calls;

if (parentPort) answerCalls(parentPort, calls);
