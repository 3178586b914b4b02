import type { FieldTerms } from "../lexical/bm25f.ts";
import type { Grammars } from "../syntax/grammars.ts";
import { languageOf } from "../syntax/languages/index.ts";
import { findSymbols, type SourceSymbol } from "../syntax/symbols.ts";

/** A part of a file that is found as one thing: a definition, or some lines of a text without definitions. */
export interface Chunk {
  /** Which of the file's symbols it is; null for lines. */
  readonly symbol: number | null;
  readonly firstLine: number;
  /** Exclusive. */
  readonly endLine: number;
  readonly terms: FieldTerms;
}

export interface ParsedFile {
  readonly language: string | null;
  readonly symbols: readonly SourceSymbol[];
  readonly chunks: readonly Chunk[];
}

/** What is worth finding by itself; fields, keys and the like are found within what holds them. */
const CHUNK_KINDS: ReadonlySet<string> = new Set([
  ...["function", "method", "constructor", "class", "interface", "struct", "trait", "enum", "type", "module"],
  ...["constant", "variable", "macro", "selector", "heading"],
]);
const LINES_PER_CHUNK = 40;
const MAX_BODY_CHARS = 8_000;
const MAX_CHUNKS_PER_FILE = 2_000;

/** Takes a file apart into symbols and chunks. */
export async function parseFile(
  grammars: Grammars,
  cutTerms: (text: string) => string[],
  path: string,
  text: string,
): Promise<ParsedFile> {
  const language = languageOf(path);
  const symbols = language ? await findSymbols(grammars, language, text) : [];
  const pathTerms = cutTerms(path);
  const chunks = symbols
    .flatMap((symbol, at) =>
      CHUNK_KINDS.has(symbol.kind) ? [symbolChunk(symbol, at, symbols, text, pathTerms, cutTerms)] : [],
    )
    .slice(0, MAX_CHUNKS_PER_FILE);
  return {
    language: language?.id ?? null,
    symbols,
    chunks: chunks.length > 0 ? chunks : lineChunks(text, pathTerms, cutTerms),
  };
}

function symbolChunk(
  symbol: SourceSymbol,
  at: number,
  symbols: readonly SourceSymbol[],
  text: string,
  path: readonly string[],
  cutTerms: (text: string) => string[],
): Chunk {
  const { name, signature, doc, range } = symbol;
  return {
    symbol: at,
    firstLine: range.start.line,
    endLine: range.end.line + 1,
    terms: {
      name: cutTerms(name),
      container: cutTerms(symbol.path.slice(0, -name.length)),
      path,
      signature: cutTerms(signature),
      doc: cutTerms(doc ?? ""),
      body: cutTerms(ownText(symbol, at, symbols, text)),
    },
  };
}

/** The text of a symbol without that of the chunks inside it: a class is not found by what its methods say. */
function ownText(symbol: SourceSymbol, at: number, symbols: readonly SourceSymbol[], text: string): string {
  let own = "";
  let from = symbol.start;
  for (let next = at + 1; next < symbols.length; next++) {
    const inner = symbols[next];
    if (!inner || inner.start >= symbol.end || own.length > MAX_BODY_CHARS) break;
    if (!CHUNK_KINDS.has(inner.kind) || inner.start < from) continue;
    own += text.slice(from, inner.start);
    from = inner.end;
  }
  return (own + text.slice(from, symbol.end)).slice(0, MAX_BODY_CHARS);
}

function lineChunks(text: string, path: readonly string[], cutTerms: (text: string) => string[]): Chunk[] {
  const lines = text.split("\n");
  const chunks: Chunk[] = [];
  for (
    let firstLine = 0;
    firstLine < lines.length && chunks.length < MAX_CHUNKS_PER_FILE;
    firstLine += LINES_PER_CHUNK
  ) {
    const endLine = Math.min(firstLine + LINES_PER_CHUNK, lines.length);
    const body = cutTerms(lines.slice(firstLine, endLine).join("\n").slice(0, MAX_BODY_CHARS));
    if (body.length > 0)
      chunks.push({
        symbol: null,
        firstLine,
        endLine,
        terms: { name: [], container: [], path, signature: [], doc: [], body },
      });
  }
  return chunks;
}
