import type { Node } from "jsonc-parser";
import { newLineOf } from "./config-format.ts";

// These functions preserve the comments and the layout around an edit.

export function insertProperty(text: string, object: Node, name: string, value: unknown): string {
  const last = object.children?.at(-1);
  const closing = endOf(object) - 1;
  const from = last ? endOf(last) : object.offset + 1;
  const tail = text.slice(from, closing);
  // A comment after the last property belongs to it, or to a removed successor.
  const kept = tail.trimEnd();
  const hasComma = last !== undefined && commaAfter(text, from) >= 0;
  const layout = layoutIn(text, object);
  const { unit } = layout;
  const property = `${JSON.stringify(name)}:${layout.gap}${render(value, layout)}`;
  const parts = [
    last && !hasComma ? "," : "",
    kept,
    unit === undefined ? (last ? layout.gap : "") : layout.newLine + layout.indent,
    property,
    hasComma ? "," : "",
    last ? tail.slice(kept.length) : unit === undefined ? "" : layout.newLine + indentAt(text, object.offset),
  ];
  return text.slice(0, from) + parts.join("") + text.slice(closing);
}

export function replaceValue(text: string, { offset, length }: Node, value: unknown): string {
  const isOneLine = !/[\r\n]/.test(text.slice(offset, offset + length));
  const layout: Layout = {
    newLine: newLineOf(text),
    gap: gapOf(text),
    ...(!isOneLine && { unit: unitOf(text) }),
    indent: indentAt(text, offset),
  };
  return text.slice(0, offset) + render(value, layout) + text.slice(offset + length);
}

export function removeProperty(text: string, property: Node): string {
  const object = property.parent as Node; // Every property has a parent.
  const siblings = object.children ?? [];
  const before = siblings[siblings.indexOf(property) - 1];
  const end = endOf(property);
  const comma = commaAfter(text, end);
  const left = text.slice(0, property.offset);
  const right = text.slice(end);
  if (comma >= 0) return closeGap(left, without(right, comma - end), "right");
  if (before) return closeGap(without(left, commaAfter(text, endOf(before))), right, "left");
  const opened = object.offset + 1;
  const closed = right.slice(endOf(object) - 1 - end);
  const inside = left.slice(opened) + right.slice(0, right.length - closed.length);
  return inside.trim() === "" ? left.slice(0, opened) + closed : closeGap(left, right, "left");
}

/** A file without a value, but perhaps with comments. */
export function startDocument(text: string, value: unknown): string {
  const newLine = newLineOf(text);
  const head = text.trim() === "" ? "" : `${text.trimEnd()}${newLine}`;
  return `${head}${render(value, { newLine, gap: " ", unit: unitOf(text), indent: "" })}${newLine}`;
}

/** Removes a line that is now empty; within a line, removes the blanks on one side. */
function closeGap(left: string, right: string, side: "left" | "right"): string {
  if (/(?:^|[\r\n])[ \t]*$/.test(left) && /^[ \t]*\r?\n/.test(right))
    return left.replace(/[ \t]*$/, "") + right.replace(/^[ \t]*\r?\n/, "");
  return side === "right" ? left + right.replace(/^[ \t]+/, "") : left.replace(/[ \t]+$/, "") + right;
}

const without = (text: string, at: number) => text.slice(0, at) + text.slice(at + 1);

const endOf = ({ offset, length }: Node): number => offset + length;

/** The offset of the following comma after blanks and comments; -1 when there is none. */
function commaAfter(text: string, from: number): number {
  TRIVIA.lastIndex = from;
  const at = from + (TRIVIA.exec(text)?.[0].length ?? 0);
  return text[at] === "," ? at : -1;
}

const TRIVIA = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;

interface Layout {
  readonly newLine: string;
  /** The space after a colon or a comma. */
  readonly gap: string;
  /** The indentation of one level; absent when everything is on one line. */
  readonly unit?: string;
  /** The indentation of the line in which a value starts. */
  readonly indent: string;
}

function layoutIn(text: string, object: Node): Layout {
  const [first] = object.children ?? [];
  const isOneLine = !/[\r\n]/.test(text.slice(object.offset, endOf(object)));
  const isInOneLine = isOneLine && (first !== undefined || (object.parent && !/[\r\n]./.test(text)));
  if (isInOneLine) return { newLine: "", gap: gapOf(text), indent: "" };
  const unit = unitOf(text);
  const ownLine = first && /^[ \t]*$/.test(lineBefore(text, first.offset));
  const indent = ownLine ? lineBefore(text, first.offset) : indentAt(text, object.offset) + unit;
  return { newLine: newLineOf(text), gap: " ", unit, indent };
}

/** Lists stay on one line, as people write them. */
function render(value: unknown, layout: Layout): string {
  const { newLine, gap, unit, indent } = layout;
  if (Array.isArray(value)) return `[${value.map((item) => render(item, layout)).join(`,${gap}`)}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = unit === undefined ? layout : { ...layout, indent: indent + unit };
  const entries = Object.entries(value).map(
    ([name, item]) => `${JSON.stringify(name)}:${gap}${render(item, inner)}`,
  );
  if (unit === undefined) return `{${entries.join(`,${gap}`)}}`;
  const separator = newLine + inner.indent;
  return `{${separator}${entries.join(`,${separator}`)}${newLine}${indent}}`;
}

const DEFAULT_UNIT = "  ";

/** Taken from the first indented line; lines of a block comment start with an asterisk. */
const unitOf = (text: string): string => /^([ \t]+)[^\s*]/m.exec(text)?.[1] ?? DEFAULT_UNIT;

const gapOf = (text: string): string => (/":\S/.test(text) && !/": /.test(text) ? "" : " ");

const lineBefore = (text: string, offset: number): string =>
  text.slice(Math.max(text.lastIndexOf("\n", offset - 1), text.lastIndexOf("\r", offset - 1)) + 1, offset);

const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(lineBefore(text, offset))?.[0] ?? "";
