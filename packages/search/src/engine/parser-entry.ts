// A thread that parses files and embeds their chunks, which is most of the work of indexing.
import { parentPort } from "node:worker_threads";
import {
  createStructureFinder,
  type StructureFinder,
  type StructureMatch,
} from "../structure/find-structures.ts";
import { createGrammars } from "../syntax/grammars.ts";
import { languageOf } from "../syntax/languages/index.ts";
import { type Call, findCalls, findOccurrences, type Occurrence } from "../syntax/occurrences.ts";
import { findSymbols, type SourceSymbol } from "../syntax/symbols.ts";
import { findSyntaxErrors, type SyntaxFault } from "../syntax/syntax-errors.ts";
import type { IndexedFile } from "./code-index.ts";
import { encodeFile } from "./packed-file.ts";
import { createFileParser, type FileParser } from "./parse-file.ts";
import type { FileState } from "./store.ts";
import { answerCalls } from "./thread.ts";

const grammars = createGrammars();
// Loaded on first use: syntax queries do not need the word table.
let parseFile: FileParser | undefined;
// The files of one search arrive one after the other, so its pattern is parsed once.
let finder: ({ pattern: string } & StructureFinder) | undefined;
const calls = {
  /** The file for the index, as written by `encodeFile`. */
  async parse(state: FileState, text: string): Promise<Uint8Array<ArrayBuffer>> {
    parseFile ??= createFileParser(grammars);
    const file: IndexedFile = { state, parsed: await parseFile(state.path, text) };
    return encodeFile(file);
  },
  /** undefined when the pattern does not parse in the file's language. */
  async structures(path: string, text: string, pattern: string): Promise<StructureMatch[] | undefined> {
    if (finder?.pattern !== pattern) finder = { pattern, ...createStructureFinder(grammars, pattern) };
    const language = languageOf(path);
    return language && finder.find(language, text);
  },
  async occurrences(path: string, text: string, name: string): Promise<Occurrence[]> {
    const language = languageOf(path);
    return language ? findOccurrences(grammars, language, text, name) : [];
  },
  async symbols(path: string, text: string): Promise<SourceSymbol[]> {
    const language = languageOf(path);
    return language ? findSymbols(grammars, language, text) : [];
  },
  /** All calls, or only those of one name. */
  async calls(path: string, text: string, name?: string): Promise<Call[]> {
    const language = languageOf(path);
    return language ? findCalls(grammars, language, text, name) : [];
  },
  async syntaxErrors(path: string, text: string): Promise<SyntaxFault[]> {
    const language = languageOf(path);
    return language ? findSyntaxErrors(grammars, language, text) : [];
  },
};
export type ParserCalls = typeof calls;

if (parentPort) answerCalls(parentPort, calls);
