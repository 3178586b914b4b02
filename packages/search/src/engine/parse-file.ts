import type { Range } from "@octant/core";
import { weighTerms } from "../lexical/weigh-terms.ts";
import type { Grammars } from "../syntax/grammars.ts";
import type { SymbolKind } from "../syntax/language.ts";
import { languageOf } from "../syntax/languages/index.ts";
import { findSymbols, type SourceSymbol } from "../syntax/symbols.ts";
import { createTermCutter } from "../text/terms.ts";
import { packVector } from "../vector/packed.ts";
import { loadWordTable } from "../vector/word-table.ts";
import { cutChunks } from "./cut-chunks.ts";
import { copyHashOf, encodeChunk } from "./packed-chunk.ts";

/** A part of a file that is found as one thing, ready to be stored. */
export interface Chunk {
  /** Which of the file's symbols it is; null for lines. */
  readonly symbol: number | null;
  readonly firstLine: number;
  /** Exclusive. */
  readonly endLine: number;
  readonly traits: number;
  /** The same for chunks that say the same; 0 for those too short to tell. */
  readonly copy: number;
  /** Its terms, with a space between them. */
  readonly terms: string;
  /** Where it lies and how much each term weighs, as `encodeChunk` writes it, in base64. */
  readonly packed: string;
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

/** Longer ones were not written by a person; their lines are found, their symbols are not. */
const MAX_PARSED_CHARS = 1_000_000;

/** Takes a file apart into symbols and chunks. */
export type FileParser = (path: string, text: string) => Promise<ParsedFile>;

export function createFileParser(grammars: Grammars): FileParser {
  const cutTerms = createTermCutter();
  const table = loadWordTable();
  return async (path, text) => {
    const language = text.length <= MAX_PARSED_CHARS ? languageOf(path) : undefined;
    const symbols = language ? await findSymbols(grammars, language, text) : [];
    const chunks = cutChunks(path, text, symbols, cutTerms).map((chunk): Chunk => {
      const { terms, weights } = weighTerms(chunk.fields);
      const vector = packVector(table.placeChunk(chunk.table));
      return {
        ...{ symbol: chunk.symbol, firstLine: chunk.firstLine, endLine: chunk.endLine, traits: chunk.traits },
        copy: copyHashOf(chunk.fields),
        terms: terms.join(" "),
        packed: Buffer.from(encodeChunk({ vector, weights })).toString("base64"),
      };
    });
    return { symbols: symbols.map(toRow), chunks };
  };
}

const toRow = ({ name, path, kind, range, nameRange, signature, doc }: SourceSymbol): SymbolRow => ({
  name,
  path,
  kind,
  place: `${placeOf(range)},${placeOf(nameRange)}`,
  signature,
  doc,
});

const placeOf = ({ start, end }: Range): string => `${start.line},${start.col},${end.line},${end.col}`;
