// A thread that takes files apart and places their chunks, which is the most work of indexing.
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
// Other questions than those of the index need no table.
let parseFile: FileParser | undefined;
// Files of one search come one after the other: its pattern is read once.
let finder: ({ pattern: string } & StructureFinder) | undefined;
const calls = {
  /** The file for the index, as `encodeFile` writes it. */
  async parse(state: FileState, text: string): Promise<Uint8Array<ArrayBuffer>> {
    parseFile ??= createFileParser(grammars);
    const file: IndexedFile = { state, parsed: await parseFile(state.path, text) };
    return encodeFile(file);
  },
  /** undefined when the pattern is no code of the file's language. */
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
  /** Every call, or those of one name. */
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
