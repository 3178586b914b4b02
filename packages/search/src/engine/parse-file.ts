import type { Range } from "@octant/core";
import { weighTerms } from "../lexical/weigh-terms.ts";
import type { Grammars } from "../syntax/grammars.ts";
import { languageOf } from "../syntax/languages/index.ts";
import { findSymbols, type SourceSymbol } from "../syntax/symbols.ts";
import { createTermCutter } from "../text/terms.ts";
import { packVector } from "../vector/vector-store.ts";
import { loadWordTable } from "../vector/word-table.ts";
import { type CutChunk, cutChunks } from "./cut-chunks.ts";
import { encodeChunk } from "./packed-chunk.ts";
import type { FileState } from "./store.ts";

/** The unit of search, ready to be stored. */
export interface Chunk extends Omit<CutChunk, "fields" | "table"> {
  /** Its terms, separated by spaces. */
  readonly terms: string;
  /** Its vector and the weight of each term, as written by `encodeChunk`, in base64. */
  readonly packed: string;
}

/** A symbol as stored. */
export interface SymbolRow extends Pick<SourceSymbol, "name" | "path" | "kind" | "signature" | "doc"> {
  /** Eight numbers: the range of the symbol and of its name. */
  readonly place: string;
}

/** A parsed file as passed between threads: strings rather than objects, because they are cheaper to copy. */
export interface ParsedFile {
  readonly symbols: readonly SymbolRow[];
  readonly chunks: readonly Chunk[];
  /** A parser gave up on it, or it is too long. */
  readonly isUnparsed?: true;
}

/** Longer files are usually generated: their lines are indexed, their symbols are not. */
const MAX_PARSED_CHARS = 1_000_000;

/** Parses a file into symbols and chunks. */
export type FileParser = (path: string, text: string) => Promise<ParsedFile>;

export function createFileParser(grammars: Grammars): FileParser {
  const cutTerms = createTermCutter();
  const table = loadWordTable();
  return async (path, text) => {
    const isTooLong = text.length > MAX_PARSED_CHARS;
    const language = isTooLong ? undefined : languageOf(path);
    const symbols = language ? await findSymbols(grammars, language, text) : [];
    const chunks = cutChunks(path, text, symbols, cutTerms).map(({ fields, table: own, ...chunk }): Chunk => {
      const { terms, weights } = weighTerms(fields);
      const vector = packVector(table.placeChunk(own));
      return {
        ...chunk,
        terms: terms.join(" "),
        packed: Buffer.from(encodeChunk({ vector, weights })).toString("base64"),
      };
    });
    const isUnparsed = isTooLong && languageOf(path)?.calls !== undefined;
    return { symbols: symbols.map(toRow), chunks, ...(isUnparsed && { isUnparsed }) };
  };
}

const toRow = ({ name, path, kind, range, nameRange, signature, doc }: SourceSymbol): SymbolRow => ({
  name,
  path,
  kind,
  signature,
  doc,
  place: `${placeOf(range)},${placeOf(nameRange)}`,
});

const placeOf = ({ start, end }: Range): string => `${start.line},${start.col},${end.line},${end.col}`;

export interface IndexedFile {
  readonly state: FileState;
  readonly parsed: ParsedFile;
}

// Parsed files travel between threads as bytes: these transfer without a copy and take no heap memory.

export const encodeFile = (file: IndexedFile): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(JSON.stringify(file));

export const decodeFile = (bytes: Uint8Array): IndexedFile =>
  JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
