import type { Range } from "@octant/core";
import type { Node } from "web-tree-sitter";
import type { Grammars } from "./grammars.ts";
import type { Language } from "./language.ts";
import { rangeOf, type SourceSymbol, symbolsIn } from "./symbols.ts";

/** A place where a name occurs as an identifier, not in a string or a comment. */
export interface Occurrence {
  readonly range: Range;
  readonly role: "definition" | "call" | "use";
  /** The innermost enclosing function, class or other symbol; null at the top level. */
  readonly within: Pick<SourceSymbol, "path" | "kind" | "range" | "signature"> | null;
}

export interface Call extends Occurrence {
  readonly name: string;
  readonly role: "call";
}

/** All occurrences of the name in the text, in order. */
export async function findOccurrences(
  grammars: Grammars,
  language: Language,
  text: string,
  name: string,
): Promise<Occurrence[]> {
  const places = placesOf(name, text);
  if (places.length === 0) return [];
  return withTree(grammars, language, text, ({ root, symbols, callees }) => {
    const definitions = new Set(symbols.map(({ nameRange }) => keyOf(nameRange)));
    const calls = new Set(callees.map((node) => keyOf(rangeOf(node))));
    return places.flatMap((start) => {
      const node = root.descendantForIndex(start, start + name.length);
      if (!node || node.text !== name || !isName(node)) return [];
      const range = rangeOf(node);
      const key = keyOf(range);
      const role = definitions.has(key) ? "definition" : calls.has(key) ? "call" : "use";
      return [{ range, role, within: enclosing(symbols, node, role === "definition") }] as const;
    });
  });
}

/** All calls in the text, or only those of one name. */
export async function findCalls(
  grammars: Grammars,
  language: Language,
  text: string,
  name?: string,
): Promise<Call[]> {
  if (!language.calls || (name !== undefined && placesOf(name, text).length === 0)) return [];
  return withTree(grammars, language, text, ({ symbols, callees }) =>
    callees
      .filter((node) => name === undefined || node.text === name)
      .map((node) => ({
        name: node.text,
        range: rangeOf(node),
        role: "call",
        within: enclosing(symbols, node, false),
      })),
  );
}

interface Parsed {
  readonly root: Node;
  readonly symbols: readonly SourceSymbol[];
  readonly callees: readonly Node[];
}

async function withTree<T>(
  grammars: Grammars,
  language: Language,
  text: string,
  work: (parsed: Parsed) => T[],
): Promise<T[]> {
  const { parse, query } = await grammars(language);
  const read = (root: Node) => {
    const callees = language.calls ? query(language.calls).captures(root) : [];
    const byPlace = new Map(callees.map(({ node }) => [node.startIndex, node]));
    return work({
      root,
      symbols: symbolsIn(root, query, language, text),
      callees: [...byPlace.values()].sort((a, b) => a.startIndex - b.startIndex),
    });
  };
  return parse(text, read) ?? [];
}

/** Offsets of the name as a whole word. */
function placesOf(name: string, text: string): number[] {
  const places: number[] = [];
  if (name === "") return places;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!isWordSign(text[at - 1]) && !isWordSign(text[at + name.length])) places.push(at);
  return places;
}

const isWordSign = (sign: string | undefined) => sign !== undefined && /[\p{L}\p{N}_]/u.test(sign);

/** Node types that grammars use for identifiers. */
const isName = ({ type, childCount }: Node) =>
  childCount === 0 && /identifier|name|constant|^word$/.test(type);

const keyOf = ({ start }: Range) => `${start.line}:${start.col}`;

/** Symbols are sorted by their start, the outer before the inner. A definition is not inside itself. */
function enclosing(
  symbols: readonly SourceSymbol[],
  node: Node,
  isDefinition: boolean,
): Occurrence["within"] {
  const found = symbols.findLast(
    ({ start, end, nameRange }) =>
      start <= node.startIndex &&
      node.endIndex <= end &&
      !(isDefinition && keyOf(nameRange) === keyOf(rangeOf(node))),
  );
  if (!found) return null;
  const { path, kind, range, signature } = found;
  return { path, kind, range, signature };
}
