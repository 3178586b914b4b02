import type { Node } from "jsonc-parser";

/** The text with one more item in a list, or entry in a map; all comments and the layout stay. */
export function insertInto(text: string, container: Node, index: number, item: string): string {
  const children = container.children ?? [];
  const closing = endOf(container) - 1;
  const layout = layoutOf(text, container);
  const next = children[index];
  if (next) return splice(text, next.offset, next.offset, `${item},${layout.separator}`);

  const last = children.at(-1);
  const from = last ? endOf(last) : container.offset + 1;
  const tail = text.slice(from, closing);
  const kept = tail.trimEnd();
  const comma = last && !hasTrailingComma(text, container) ? "," : "";
  const space = last ? tail.slice(kept.length) : layout.beforeClosing;
  return splice(text, from, closing, `${comma}${kept}${layout.separator}${item}${space}`);
}

/** The text with something else in place of a value. */
export const splice = (text: string, start: number, end: number, put: string): string =>
  text.slice(0, start) + put + text.slice(end);

export const endOf = ({ offset, length }: Node): number => offset + length;

export function hasTrailingComma(text: string, container: Node): boolean {
  const last = container.children?.at(-1);
  return last !== undefined && text.slice(endOf(last)).replace(TRIVIA, "").startsWith(",");
}

const TRIVIA = /^(?:\s+|\/\/.*|\/\*[\s\S]*?\*\/)*/;

function layoutOf(text: string, container: Node) {
  const [first] = container.children ?? [];
  const newLine = text.includes("\r\n") ? "\r\n" : "\n";
  const isOneLine = first && !/[\r\n]/.test(text.slice(container.offset, endOf(container)));
  if (isOneLine) return { separator: " ", beforeClosing: "" };
  const outer = indentAt(text, container.offset);
  const inner =
    first && /^\s*$/.test(lineBefore(text, first.offset)) ? indentAt(text, first.offset) : `${outer}  `;
  return { separator: `${newLine}${inner}`, beforeClosing: `${newLine}${outer}` };
}

const lineBefore = (text: string, offset: number): string =>
  /[^\r\n]*$/.exec(text.slice(0, offset))?.[0] ?? "";

const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(lineBefore(text, offset))?.[0] ?? "";
