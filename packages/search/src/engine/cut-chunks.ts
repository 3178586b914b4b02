import type { FieldTerms } from "../lexical/weigh-terms.ts";
import type { SourceSymbol } from "../syntax/symbols.ts";
import type { TermCutter } from "../text/terms.ts";
import { MAX_TABLE_SIGNATURE_CHARS, MAX_TABLE_TEXT_CHARS, type TableFields } from "../vector/word-table.ts";
import { traitsOf } from "./traits.ts";

/** The unit of search: a definition, or some lines of a file without definitions. */
export interface CutChunk {
  /** The index of its symbol in the file; null for lines. */
  readonly symbol: number | null;
  readonly firstLine: number;
  /** Exclusive. */
  readonly endLine: number;
  /** As written by `traitsOf`. */
  readonly traits: number;
  readonly fields: FieldTerms;
  readonly table: TableFields;
}

/** Kinds that are chunks of their own; fields, keys and similar ones are found within their container. */
const CHUNK_KINDS: ReadonlySet<string> = new Set([
  ...["function", "method", "constructor", "class", "interface", "struct", "trait", "enum", "type", "module"],
  ...["macro", "selector", "heading"],
]);
/** Chunks of their own only when longer than one line, such as a table. */
const LONG_CHUNK_KINDS: ReadonlySet<string> = new Set(["constant", "variable"]);
/** A declaration without a body over several lines, such as an overload. */
const STUB = /^(?:(?!=>)[^{])*;\s*$|:\s*\.\.\.\s*$/;
const LINES_PER_CHUNK = 40;
const MAX_BODY_CHARS = 8_000;
const MAX_CHUNKS_PER_FILE = 2_000;

export function cutChunks(
  path: string,
  text: string,
  symbols: readonly SourceSymbol[],
  cutTerms: TermCutter,
): CutChunk[] {
  const pathTerms = cutTerms(path.replace(/\.[a-z]+$/, ""));
  const toChunk = ({ symbol, firstLine, endLine, kind, ...part }: Part): CutChunk => {
    const [name, container] = [cutTerms(part.name), cutTerms(part.container)];
    const signature = cutTerms(part.signature.slice(0, MAX_TABLE_SIGNATURE_CHARS));
    const head = cutTerms(part.body.slice(0, MAX_TABLE_TEXT_CHARS));
    const body = [...head, ...cutTerms(part.body.slice(MAX_TABLE_TEXT_CHARS))];
    return {
      symbol,
      firstLine,
      endLine,
      traits: traitsOf({
        path,
        symbol: part.container + part.name,
        kind,
        lines: STUB.test(part.body) ? 1 : endLine - firstLine,
      }),
      fields: { name, container, path: pathTerms, signature, doc: cutTerms(part.doc), body },
      table: { name, container, path: pathTerms, signature, text: head },
    };
  };
  const defined = symbols
    .flatMap((symbol, at) => (isChunk(symbol) ? [partOf(symbol, at, symbols, text)] : []))
    .slice(0, MAX_CHUNKS_PER_FILE);
  return (defined.length > 0 ? defined : linesOf(text)).map(toChunk);
}

interface Part {
  readonly symbol: number | null;
  readonly firstLine: number;
  readonly endLine: number;
  readonly kind: string;
  readonly name: string;
  readonly container: string;
  readonly signature: string;
  readonly doc: string;
  readonly body: string;
}

const isChunk = ({ kind, range }: SourceSymbol): boolean =>
  CHUNK_KINDS.has(kind) || (LONG_CHUNK_KINDS.has(kind) && range.end.line > range.start.line + 1);

const partOf = (symbol: SourceSymbol, at: number, symbols: readonly SourceSymbol[], text: string): Part => ({
  symbol: at,
  firstLine: symbol.range.start.line,
  endLine: symbol.range.end.line + 1,
  kind: symbol.kind,
  name: symbol.name,
  container: symbol.path.slice(0, symbol.path.lastIndexOf(symbol.name)),
  signature: symbol.signature,
  doc: symbol.doc ?? "",
  body: ownText(symbol, at, symbols, text),
});

/** The text of a symbol without its nested chunks: a class should not be found by the text of its methods. */
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

function linesOf(text: string): Part[] {
  const lines = text.split("\n");
  const parts: Part[] = [];
  for (
    let firstLine = 0;
    firstLine < lines.length && parts.length < MAX_CHUNKS_PER_FILE;
    firstLine += LINES_PER_CHUNK
  ) {
    const endLine = Math.min(firstLine + LINES_PER_CHUNK, lines.length);
    const body = lines.slice(firstLine, endLine).join("\n").slice(0, MAX_BODY_CHARS);
    if (!/\S/.test(body)) continue;
    parts.push({
      symbol: null,
      firstLine,
      endLine,
      kind: "lines",
      name: "",
      container: "",
      signature: "",
      doc: "",
      body,
    });
  }
  return parts;
}
