import type { Range } from "@octant/core";
import type { Node, QueryCapture } from "web-tree-sitter";
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
    const calls = new Set(callees.map(({ range }) => keyOf(range)));
    return places.flatMap((start) => {
      const range = rangeAt(root, language, start, name);
      if (!range) return [];
      const key = keyOf(range);
      const role = definitions.has(key) ? "definition" : calls.has(key) ? "call" : "use";
      return [
        { range, role, within: enclosing(symbols, start, role === "definition" ? range : undefined) },
      ] as const;
    });
  });
}

/** All calls in the text. */
export async function findCalls(grammars: Grammars, language: Language, text: string): Promise<Call[]> {
  if (!language.calls) return [];
  return withTree(grammars, language, text, ({ symbols, callees }) =>
    callees.map(({ name, start, range }) => ({
      name,
      range,
      role: "call",
      within: enclosing(symbols, start),
    })),
  );
}

interface Callee {
  readonly name: string;
  readonly start: number;
  readonly range: Range;
}

interface Parsed {
  readonly root: Node;
  readonly symbols: readonly SourceSymbol[];
  readonly callees: readonly Callee[];
}

async function withTree<T>(
  grammars: Grammars,
  language: Language,
  text: string,
  work: (parsed: Parsed) => T[],
): Promise<T[]> {
  const { parse, query } = await grammars(language);
  const read = (root: Node) => {
    const symbols = symbolsIn(root, query, language, text);
    const captures = language.calls ? query(language.calls).captures(root) : [];
    const called = [...calleesIn(captures, symbols), ...opaqueCallees(root, language)];
    const byPlace = new Map(called.map((callee) => [callee.start, callee]));
    return work({ root, symbols, callees: [...byPlace.values()].sort((a, b) => a.start - b.start) });
  };
  return parse(text, read) ?? [];
}

function calleesIn(captures: readonly QueryCapture[], symbols: readonly SourceSymbol[]): Callee[] {
  const named = (capture: string) => captures.filter(({ name }) => name === capture).map(({ node }) => node);
  const bare = named("bare");
  const scopeOf = (node: Node) => enclosing(symbols, node.startIndex)?.path;
  const locals = new Set(
    bare.length > 0 ? named("local").map((node) => `${scopeOf(node)} ${node.text}`) : [],
  );
  const defined = new Set(symbols.map(({ nameRange }) => keyOf(nameRange)));
  const isCall = (node: Node) =>
    !locals.has(`${scopeOf(node)} ${node.text}`) && !defined.has(keyOf(rangeOf(node)));
  return [...named("callee"), ...bare.filter(isCall)].map((node) => ({
    name: node.text,
    start: node.startIndex,
    range: rangeOf(node),
  }));
}

const OPAQUE_CALL = /[\p{L}_]\w*(?=\s*\()/gu;

function opaqueCallees(root: Node, { opaque }: Language): Callee[] {
  if (opaque === undefined) return [];
  return root.descendantsOfType(opaque).flatMap((node) =>
    [...(node?.text ?? "").matchAll(OPAQUE_CALL)].map(({ 0: name, index }) => ({
      name,
      start: node!.startIndex + index,
      range: rangeWithin(node!, index, name),
    })),
  );
}

/** Where the name stands, if it is an identifier there. */
function rangeAt(root: Node, { opaque }: Language, start: number, name: string): Range | undefined {
  const node = root.descendantForIndex(start, start + name.length);
  if (!node) return undefined;
  const isIt =
    node.type === opaque || (isName(node) && node.text.replace(SIGIL, "") === name.replace(SIGIL, ""));
  return isIt ? rangeWithin(node, start - node.startIndex, name) : undefined;
}

function rangeWithin({ text, startPosition: { row, column } }: Node, offset: number, name: string): Range {
  const lines = text.slice(0, offset).split("\n");
  const col = lines.length === 1 ? column + offset : lines.at(-1)!.length;
  const line = row + lines.length - 1;
  return { start: { line, col }, end: { line, col: col + name.length } };
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

/** Node types that grammars use for identifiers; a symbol or a variable of Ruby starts with a sign. */
const isName = ({ type, childCount }: Node) =>
  childCount === 0 && /identifier|name|constant|^word$|^simple_symbol$|_variable$/.test(type);
const SIGIL = /^[:@$]+/;

const keyOf = ({ start }: Range) => `${start.line}:${start.col}`;

/** Symbols are sorted by their start, the outer before the inner. A definition is not inside itself. */
function enclosing(symbols: readonly SourceSymbol[], at: number, definition?: Range): Occurrence["within"] {
  const found = symbols.findLast(
    ({ start, end, nameRange }) =>
      start <= at && at < end && !(definition && keyOf(nameRange) === keyOf(definition)),
  );
  if (!found) return null;
  const { path, kind, range, signature } = found;
  return { path, kind, range, signature };
}
