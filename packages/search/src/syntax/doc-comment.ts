import type { Node } from "web-tree-sitter";
import type { Language } from "./language.ts";

/** Nodes that may stand between a definition and the comment above it. */
const WRAPPERS = new Set([
  ...["export_statement", "decorated_definition", "template_declaration", "ambient_declaration"],
  ...["type_declaration", "const_declaration", "var_declaration", "expression_statement", "declaration"],
]);
const PASSED_OVER = new Set(["attribute_item", "decorator", "annotation", "attribute_list"]);
const MAX_DOC_CHARS = 2_000;

/** The comment that documents a definition, without its markers; null when there is none. */
export function docOf(definition: Node, language: Language): string | null {
  const text = (language.docstrings && docstringOf(definition)) || commentAbove(definition);
  return text ? text.slice(0, MAX_DOC_CHARS) : null;
}

function docstringOf(definition: Node): string | null {
  const inner = definition.childForFieldName("definition") ?? definition;
  const first = inner.childForFieldName("body")?.namedChild(0);
  const string = first?.type === "expression_statement" ? first.namedChild(0) : first;
  if (string?.type !== "string") return null;
  return tidy(string.text.replace(/^[rbuRBU]*("""|'''|"|')([\s\S]*?)\1$/, "$2"));
}

function commentAbove(definition: Node): string | null {
  let node = definition;
  while (node.parent && WRAPPERS.has(node.parent.type) && node.parent.startPosition.row >= 0)
    node = node.parent;
  const comments: string[] = [];
  let below = node;
  for (let above = node.previousSibling; above; above = above.previousSibling) {
    if (PASSED_OVER.has(above.type)) {
      below = above;
      continue;
    }
    const isNear = above.endPosition.row >= below.startPosition.row - 1;
    if (!above.type.includes("comment") || !isNear || sharesLine(above)) break;
    comments.unshift(above.text);
    below = above;
  }
  return comments.length > 0 ? tidy(comments.map(withoutMarkers).join("\n")) : null;
}

/** A comment after other code on the same line belongs to that code. */
const sharesLine = (comment: Node) =>
  comment.previousSibling !== null &&
  comment.previousSibling.endPosition.row === comment.startPosition.row &&
  !comment.previousSibling.type.includes("comment");

const withoutMarkers = (comment: string) =>
  comment
    .replace(/^\/\*+!?/, "")
    .replace(/\*+\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*(\/\/[/!]?|\*|#+!?|--)\s?/, ""))
    .join("\n");

const tidy = (text: string): string | null =>
  text
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .trim() || null;
