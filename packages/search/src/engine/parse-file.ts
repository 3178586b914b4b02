import type { Range } from "@octant/core";
import { encodeTerms } from "../lexical/field-terms.ts";
import type { Grammars } from "../syntax/grammars.ts";
import type { SymbolKind } from "../syntax/language.ts";
import { languageOf } from "../syntax/languages/index.ts";
import { findSymbols, type SourceSymbol } from "../syntax/symbols.ts";
import { createTermCutter } from "../text/terms.ts";
import { encodeVector, packVector } from "../vector/packed.ts";
import { loadWordTable, MAX_TABLE_SIGNATURE_CHARS, MAX_TABLE_TEXT_CHARS } from "../vector/word-table.ts";

/** A part of a file that is found as one thing: a definition, or some lines of a text without definitions. */
export interface Chunk {
  /** Which of the file's symbols it is; null for lines. */
  readonly symbol: number | null;
  readonly firstLine: number;
  /** Exclusive. */
  readonly endLine: number;
  /** By field, as `encodeTerms` writes them. */
  readonly terms: string;
  /** Where the word table places it, as `encodeVector` writes it. */
  readonly vector: string;
}

/** A symbol as it is stored. */
export interface SymbolRow {
  readonly name: string;
  readonly path: string;
  readonly kind: SymbolKind;
  /** Eight numbers: its range and that of its name. */
  readonly place: string;
  readonly signature: string;
  readonly doc: string | null;
}

/** What is handed from thread to thread for each file: texts rather than objects, because those are copied at once. */
export interface ParsedFile {
  readonly symbols: readonly SymbolRow[];
  readonly chunks: readonly Chunk[];
}

/** What is worth finding by itself; fields, keys and the like are found within what holds them. */
const CHUNK_KINDS: ReadonlySet<string> = new Set([
  ...["function", "method", "constructor", "class", "interface", "struct", "trait", "enum", "type", "module"],
  ...["macro", "selector", "heading"],
]);
/** These are when there is more to them than a line: a table, say. */
const LONG_CHUNK_KINDS: ReadonlySet<string> = new Set(["constant", "variable"]);
const LINES_PER_CHUNK = 40;
const MAX_BODY_CHARS = 8_000;
const MAX_CHUNKS_PER_FILE = 2_000;
/** Longer ones were not written by a person; their lines are found, their symbols are not. */
const MAX_PARSED_CHARS = 1_000_000;

/** Takes a file apart into symbols and chunks. */
export type FileParser = (path: string, text: string) => Promise<ParsedFile>;

export function createFileParser(grammars: Grammars): FileParser {
  const cutTerms = createTermCutter();
  const table = loadWordTable();

  const toChunk = (
    place: Omit<Chunk, "terms" | "vector">,
    path: readonly string[],
    parts: ChunkText,
  ): Chunk => {
    const [name, container] = [cutTerms(parts.name), cutTerms(parts.container)];
    const signature = cutTerms(parts.signature.slice(0, MAX_TABLE_SIGNATURE_CHARS));
    const text = cutTerms(parts.body.slice(0, MAX_TABLE_TEXT_CHARS));
    const rest = cutTerms(parts.body.slice(MAX_TABLE_TEXT_CHARS));
    return {
      ...place,
      terms: encodeTerms({
        name,
        container,
        path,
        signature,
        doc: cutTerms(parts.doc),
        body: [...text, ...rest],
      }),
      vector: encodeVector(packVector(table.placeChunk({ name, container, path, signature, text }))),
    };
  };

  return async (path, text) => {
    const language = text.length <= MAX_PARSED_CHARS ? languageOf(path) : undefined;
    const symbols = language ? await findSymbols(grammars, language, text) : [];
    const pathTerms = cutTerms(path.replace(/\.[a-z]+$/, ""));
    const chunks = symbols
      .flatMap((symbol, at) =>
        isChunk(symbol)
          ? [toChunk(placeOfSymbol(symbol, at), pathTerms, textOf(symbol, at, symbols, text))]
          : [],
      )
      .slice(0, MAX_CHUNKS_PER_FILE);
    return {
      symbols: symbols.map(toRow),
      chunks:
        chunks.length > 0
          ? chunks
          : linesOf(text).map(({ body, ...place }) => toChunk(place, pathTerms, { ...NO_TEXT, body })),
    };
  };
}

interface ChunkText {
  readonly name: string;
  readonly container: string;
  readonly signature: string;
  readonly doc: string;
  readonly body: string;
}
const NO_TEXT: ChunkText = { name: "", container: "", signature: "", doc: "", body: "" };

const toRow = ({ name, path, kind, range, nameRange, signature, doc }: SourceSymbol): SymbolRow => ({
  name,
  path,
  kind,
  place: `${placeOf(range)},${placeOf(nameRange)}`,
  signature,
  doc,
});

const placeOf = ({ start, end }: Range): string => `${start.line},${start.col},${end.line},${end.col}`;

const isChunk = ({ kind, range }: SourceSymbol): boolean =>
  CHUNK_KINDS.has(kind) || (LONG_CHUNK_KINDS.has(kind) && range.end.line > range.start.line + 1);

const placeOfSymbol = ({ range }: SourceSymbol, symbol: number) => ({
  symbol,
  firstLine: range.start.line,
  endLine: range.end.line + 1,
});

const textOf = (
  symbol: SourceSymbol,
  at: number,
  symbols: readonly SourceSymbol[],
  text: string,
): ChunkText => ({
  name: symbol.name,
  container: symbol.path.slice(0, symbol.path.lastIndexOf(symbol.name)),
  signature: symbol.signature,
  doc: symbol.doc ?? "",
  body: ownText(symbol, at, symbols, text),
});

/** The text of a symbol without that of the chunks inside it: a class is not found by what its methods say. */
function ownText(symbol: SourceSymbol, at: number, symbols: readonly SourceSymbol[], text: string): string {
  let own = "";
  let from = symbol.start;
  for (let next = at + 1; next < symbols.length; next++) {
    const inner = symbols[next];
    if (!inner || inner.start >= symbol.end || own.length > MAX_BODY_CHARS) break;
    if (!isChunk(inner) || inner.start < from) continue;
    own += text.slice(from, inner.start);
    from = inner.end;
  }
  return (own + text.slice(from, symbol.end)).slice(0, MAX_BODY_CHARS);
}

function linesOf(text: string) {
  const lines = text.split("\n");
  const chunks: { symbol: null; firstLine: number; endLine: number; body: string }[] = [];
  for (
    let firstLine = 0;
    firstLine < lines.length && chunks.length < MAX_CHUNKS_PER_FILE;
    firstLine += LINES_PER_CHUNK
  ) {
    const endLine = Math.min(firstLine + LINES_PER_CHUNK, lines.length);
    const body = lines.slice(firstLine, endLine).join("\n").slice(0, MAX_BODY_CHARS);
    if (/\S/.test(body)) chunks.push({ symbol: null, firstLine, endLine, body });
  }
  return chunks;
}
