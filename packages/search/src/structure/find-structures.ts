import type { Range } from "@octant/core";
import type { Node } from "web-tree-sitter";
import type { Grammars } from "../syntax/grammars.ts";
import type { Language } from "../syntax/language.ts";
import { matchPattern } from "./match.ts";
import { type Pattern, parsePattern } from "./pattern.ts";

export interface Capture {
  readonly text: string;
  readonly range: Range;
}

export interface StructureMatch {
  readonly range: Range;
  readonly text: string;
  /** By the name of the metavariable; an empty match has an empty text at its position. */
  readonly captures: Readonly<Record<string, Capture>>;
}

/** The matches in order; undefined when the pattern does not parse in the language. */
export type StructureFinder = (language: Language, text: string) => Promise<StructureMatch[] | undefined>;

/** Patterns are parsed once per language. */
export function createStructureFinder(grammars: Grammars, pattern: string): StructureFinder {
  const parsed = new Map<string, Promise<Pattern | undefined>>();
  return async (language, text) => {
    const known = parsed.get(language.id) ?? parsePattern(grammars, language, pattern);
    parsed.set(language.id, known);
    const own = await known;
    const { parse } = await grammars(language);
    return own && (parse(text, (root) => matchesIn(root, own, text)) ?? []);
  };
}

const matchesIn = (root: Node, pattern: Pattern, text: string): StructureMatch[] =>
  root.descendantsOfType(pattern[0].type).flatMap((node) => {
    const matched = node && matchPattern(pattern, node);
    if (!matched) return [];
    const captures = [...matched.captures].map(([name, nodes]) => [name, toCapture(nodes, text, node)]);
    return [{ ...toCapture(matched.nodes, text, node), captures: Object.fromEntries(captures) }];
  });

function toCapture(nodes: readonly Node[], text: string, whole: Node): Capture {
  const [first, end] = [nodes[0], nodes.at(-1)];
  const last = end && withoutLineEnd(end);
  if (!first || !last) {
    const place = { line: whole.endPosition.row, col: whole.endPosition.column };
    return { text: "", range: { start: place, end: place } };
  }
  return {
    text: text.slice(first.startIndex, last.endIndex),
    range: {
      start: { line: first.startPosition.row, col: first.startPosition.column },
      end: { line: last.endPosition.row, col: last.endPosition.column },
    },
  };
}

/** Some grammars include the line end in the node before it. */
function withoutLineEnd(node: Node): Node {
  const last = node.lastNamedChild;
  return last && /\s$/.test(node.text) ? withoutLineEnd(last) : node;
}
