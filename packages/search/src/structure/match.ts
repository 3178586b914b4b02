import type { Node } from "web-tree-sitter";
import { type Pattern, type PatternNode, significantChildren } from "./pattern.ts";

/** The nodes captured by each metavariable: a run of siblings, one node or any number. */
export type Captures = ReadonlyMap<string, readonly Node[]>;

const NOTHING: Captures = new Map();

/** Matches the pattern against the node, and its following siblings when the pattern has several parts. */
export function matchPattern(
  [first, ...rest]: Pattern,
  node: Node,
): { nodes: Node[]; captures: Captures } | undefined {
  const captures = matchNode(first, node, NOTHING);
  if (!captures) return undefined;
  if (rest.length === 0) return { nodes: [node], captures };
  const siblings = node.parent ? significantChildren(node.parent) : [];
  const after = siblings.slice(siblings.findIndex((sibling) => sibling.id === node.id) + 1);
  const all = matchStart(rest, after, captures);
  return all && { nodes: [node, ...after.slice(0, all.used)], captures: all.captures };
}

function matchNode(pattern: PatternNode, node: Node, captures: Captures): Captures | undefined {
  if (pattern.is === "metavariable") return capture(pattern.metavariable.name, [node], captures);
  if (pattern.is === "leaf") return node.text === pattern.text ? captures : undefined;
  if (node.type !== pattern.type) return undefined;
  const children = significantChildren(node);
  const matched = matchStart(pattern.children, children, captures, true);
  return matched?.captures;
}

interface Matched {
  readonly used: number;
  readonly captures: Captures;
}

/** Matches the parts against the nodes from the first one on; with `isWhole` no node may be left over. */
function matchStart(
  parts: readonly PatternNode[],
  nodes: readonly Node[],
  captures: Captures,
  isWhole = false,
  at = 0,
): Matched | undefined {
  const [part, ...rest] = parts;
  if (!part) return !isWhole || !hasNamed(nodes, at) ? { used: at, captures } : undefined;
  if (part.is === "metavariable" && part.metavariable.matches === "many") {
    for (let end = at; end <= nodes.length; end++) {
      const captured = capture(part.metavariable.name, nodes.slice(at, end), captures);
      const matched = captured && matchStart(rest, nodes, captured, isWhole, end);
      if (matched) return matched;
    }
    return undefined;
  }
  const node = nodes[at];
  if (!node) return undefined;
  const matched = matchNode(part, node, captures);
  const all = matched && matchStart(rest, nodes, matched, isWhole, at + 1);
  // The code may have a keyword that the pattern does not mention: `async`, `export`.
  return all ?? (node.isNamed ? undefined : matchStart(parts, nodes, captures, isWhole, at + 1));
}

const hasNamed = (nodes: readonly Node[], from: number) => nodes.slice(from).some((node) => node.isNamed);

/** A name used twice must capture the same text. */
function capture(name: string | null, nodes: readonly Node[], captures: Captures): Captures | undefined {
  if (name === null) return captures;
  const before = captures.get(name);
  if (before) return textOf(before) === textOf(nodes) ? captures : undefined;
  return new Map(captures).set(name, nodes);
}

const textOf = (nodes: readonly Node[]) => nodes.map(({ text }) => text).join("\n");
