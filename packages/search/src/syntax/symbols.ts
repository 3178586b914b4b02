import type { Range } from "@octant/core";
import type { Node, QueryMatch } from "web-tree-sitter";
import { docOf } from "./doc-comment.ts";
import type { Grammars, LoadedGrammar } from "./grammars.ts";
import { type Language, SYMBOL_KINDS, type SymbolKind } from "./language.ts";

/** A named definition in a source file. */
export interface SourceSymbol {
  readonly name: string;
  /**
   * The names from the outermost symbol to this one: `Outer.inner`; the second with the same path ends in
   * `~2`.
   */
  readonly path: string;
  readonly kind: SymbolKind;
  readonly range: Range;
  readonly nameRange: Range;
  /** The definition without its body, on one line. */
  readonly signature: string;
  readonly doc: string | null;
  /** The offsets of its text, in UTF-16 units from the start of the file. */
  readonly start: number;
  readonly end: number;
}

const MAX_SIGNATURE_CHARS = 300;
const MAX_NAME_CHARS = 200;

/** The definitions in a text, in source order. */
export async function findSymbols(
  grammars: Grammars,
  language: Language,
  text: string,
): Promise<SourceSymbol[]> {
  if (typeof language.symbols !== "string") return nest(language.symbols(text));
  const { parse, query } = await grammars(language);
  return parse(text, (root) => symbolsIn(root, query, language, text)) ?? [];
}

/** The same for an existing tree. */
export function symbolsIn(
  root: Node,
  query: LoadedGrammar["query"],
  language: Language,
  text: string,
): SourceSymbol[] {
  if (typeof language.symbols !== "string") return nest(language.symbols(text));
  const definitions = onePerName(query(language.symbols).matches(root));
  return nest(definitions.map((definition) => describe(definition, language, text)));
}

interface Definition {
  readonly kind: SymbolKind;
  readonly node: Node;
  readonly name: Node;
  readonly owner: Node | undefined;
}

/** The patterns of a language are in order of precedence: of two that match the same name the first wins. */
function onePerName(matches: readonly QueryMatch[]): Definition[] {
  const claimed = new Map<number, { definition: Definition; pattern: number }>();
  for (const { captures, patternIndex: pattern } of matches) {
    const whole = captures.find(({ name }) => isKind(name));
    const name = captures.find((capture) => capture.name === "name")?.node;
    if (!whole || !name) continue;
    const rival = claimed.get(name.startIndex);
    if (rival && rival.pattern <= pattern) continue;
    const owner = captures.find((capture) => capture.name === "owner")?.node;
    // `isKind` has checked it.
    const definition = { kind: whole.name as SymbolKind, node: whole.node, name, owner };
    claimed.set(name.startIndex, { definition, pattern });
  }
  return [...claimed.values()].map(({ definition }) => definition).sort(byPlace);
}

const isKind = (capture: string): boolean => (SYMBOL_KINDS as readonly string[]).includes(capture);

const byPlace = (a: Definition, b: Definition): number =>
  a.node.startIndex - b.node.startIndex || b.node.endIndex - a.node.endIndex;

/** A symbol before its enclosing symbol is known; `owner` is the type it explicitly belongs to. */
export type UnplacedSymbol = Omit<SourceSymbol, "path"> & { readonly owner: string | undefined };

function describe({ kind, node, name, owner }: Definition, language: Language, text: string): UnplacedSymbol {
  return {
    name: unquoted(name.text).slice(0, MAX_NAME_CHARS),
    owner: owner?.text,
    kind,
    range: rangeOf(node),
    nameRange: rangeOf(name),
    signature: signatureOf(node, text),
    doc: docOf(node, language),
    start: node.startIndex,
    end: node.endIndex,
  };
}

const unquoted = (name: string) => name.replace(/^(["'`])(.*)\1$/s, "$2");

export const rangeOf = ({ startPosition, endPosition }: Node): Range => ({
  start: { line: startPosition.row, col: startPosition.column },
  end: { line: endPosition.row, col: endPosition.column },
});

function signatureOf(node: Node, text: string): string {
  const body = bodyOf(node);
  const end = body ? body.startIndex : Math.min(node.endIndex, node.startIndex + MAX_SIGNATURE_CHARS);
  return text
    .slice(node.startIndex, Math.max(end, node.startIndex))
    .slice(0, MAX_SIGNATURE_CHARS)
    .replace(/\s+/g, " ")
    .replace(/\s*(\{|=>|:|=)?\s*$/, "");
}

/** Fields that lead to the body: a function in a constant has it two levels down. */
const WAYS_TO_BODY = ["value", "definition", "declarator", "right", "type"] as const;
const MAX_WAY = 3;

function bodyOf(node: Node, way = 0): Node | null {
  const body = node.childForFieldName("body");
  if (body || way === MAX_WAY) return body;
  for (const field of WAYS_TO_BODY) {
    const child = node.childForFieldName(field) ?? declaratorIn(node, field);
    const found = child && bodyOf(child, way + 1);
    if (found) return found;
  }
  return null;
}

/** In JavaScript a declaration has its declarator as an unnamed child. */
const declaratorIn = (node: Node, field: string) =>
  field === "declarator"
    ? (node.namedChildren.find((child) => child?.type === "variable_declarator") ?? null)
    : null;

/** Builds each path from the enclosing symbols, or from the type that the symbol explicitly belongs to. */
function nest(found: readonly UnplacedSymbol[]): SourceSymbol[] {
  const enclosing: SourceSymbol[] = [];
  const seen = new Map<string, number>();
  return found.map(({ owner, ...symbol }) => {
    while (enclosing.length > 0 && (enclosing.at(-1)?.end ?? 0) < symbol.end) enclosing.pop();
    const outer = owner ?? enclosing.at(-1)?.path;
    const plain = outer === undefined ? symbol.name : `${outer}.${symbol.name}`;
    const count = (seen.get(plain) ?? 0) + 1;
    seen.set(plain, count);
    const placed = { ...symbol, path: count === 1 ? plain : `${plain}~${count}` };
    enclosing.push(placed);
    return placed;
  });
}
