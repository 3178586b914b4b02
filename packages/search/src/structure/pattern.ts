import type { Node } from "web-tree-sitter";
import type { Grammars } from "../syntax/grammars.ts";
import type { Language } from "../syntax/language.ts";
import { contextsOf } from "./contexts.ts";
import {
  literalWords,
  type Metavariable,
  metavariableIn,
  QUOTED,
  SPELLINGS,
  withPlaceholders,
} from "./placeholders.ts";

/** A node of a pattern, without insignificant tokens (commas, brackets, comments). */
export type PatternNode =
  | { readonly is: "metavariable"; readonly metavariable: Metavariable }
  | { readonly is: "leaf"; readonly type: string; readonly text: string }
  | { readonly is: "node"; readonly type: string; readonly children: readonly PatternNode[] };

/** One node or several siblings. The first is never a metavariable. */
export type Pattern = readonly [first: Exclude<PatternNode, { is: "metavariable" }>, ...PatternNode[]];

/** Parses a pattern as code of the language; undefined when that fails. */
export async function parsePattern(
  grammars: Grammars,
  language: Language,
  text: string,
): Promise<Pattern | undefined> {
  if (literalWords(text).length === 0 && !/[^\s$\w]/.test(text)) return undefined;
  const { parse } = await grammars(language);
  const spellings = language.id === "json" ? [QUOTED] : SPELLINGS;
  for (const [before, behind] of contextsOf(language.id)) {
    for (const spelling of spellings) {
      const code = withPlaceholders(text.trim(), spelling);
      const start = before.length;
      const pattern = parse(before + code + behind, (root) =>
        root.hasError ? undefined : toPattern(root, start, start + code.length),
      );
      if (pattern) return pattern;
    }
  }
  return undefined;
}

/** The part of the tree between two offsets, without its enclosing nodes. */
function toPattern(root: Node, start: number, end: number): Pattern | undefined {
  const node = root.descendantForIndex(start, end);
  if (!node) return undefined;
  const isOne = node.startIndex === start && node.endIndex === end && node.parent && !ROWS.has(node.type);
  const [first, ...rest] = (isOne ? [node] : partsIn(node, start, end)).map(toPatternNode);
  if (!first || first.is === "metavariable") return undefined;
  return [first, ...rest];
}

/** Containers of statements, without meaning of their own. */
const ROWS = new Set(["block", "statement_list", "declaration_list", "body_statement", "class_body"]);

const partsIn = (node: Node, start: number, end: number): Node[] =>
  significantChildren(node).filter((child) => child.startIndex >= start && child.endIndex <= end);

function toPatternNode(node: Node): PatternNode {
  const metavariable = metavariableIn(node.text);
  if (metavariable) return { is: "metavariable", metavariable };
  const children = significantChildren(node);
  if (children.length === 0 && !isHollow(node)) return { is: "leaf", type: node.type, text: node.text };
  return { is: "node", type: node.type, children: children.map(toPatternNode) };
}

/** Contains only brackets: `{}`. */
const isHollow = (node: Node) => node.childCount > 0 && /^[\s,;(){}[\]]*$/.test(node.text);

/** Tokens that depend on style, or that the tree already represents. */
const SILENT = new Set([",", ";", "(", ")", "{", "}", "[", "]", '"', "'", "`", "\n", ""]);

/** The significant children: not commas, brackets or comments. */
export const significantChildren = (node: Node): Node[] =>
  node.children.filter((child): child is Node => child !== null && !isSilent(child));

const isSilent = (node: Node) => (node.isNamed ? node.type.includes("comment") : SILENT.has(node.type));
