import { Range, toOneLine } from "@octant/core";
import { toColumns } from "./columns.ts";

/** Data for a person. `body` is text to be printed as it is; `facts` is all the rest. */
export interface Rendered {
  readonly body: string | undefined;
  readonly facts: readonly string[];
}

/** Goes by the shape of the data alone. URIs below `root` are shown as paths from it. */
export function renderData(data: unknown, root: string): Rendered {
  const show = (value: unknown) => linesOf(value, root);
  if (!isRecord(data))
    return typeof data === "string" ? { body: data, facts: [] } : { body: undefined, facts: show(data) };
  const [only, ...others] = Object.values(data);
  if (Array.isArray(only) && others.length === 0) return { body: undefined, facts: show(only) };
  const key = BODY_KEYS.find((name) => typeof data[name] === "string");
  if (key === undefined) return { body: undefined, facts: show(data) };
  const { [key]: head, tail, ...rest } = data;
  const body = typeof tail === "string" ? `${head}\n… the middle is left out …\n${tail}` : String(head);
  return { body, facts: show(rest) };
}

/** What an answer's main text is called; `tail` is the end of one that is too long. */
const BODY_KEYS = ["text", "markdown", "diff"];
const INDENT = "  ";
const MAX_INLINE_CHARS = 80;
const MAX_CELL_CHARS = 300;
const SHORT_HASH_CHARS = "sha256:".length + 12;

type Data = Readonly<Record<string, unknown>>;

function linesOf(value: unknown, root: string): string[] {
  if (Array.isArray(value)) return listLines(value, root);
  if (typeof value === "string" && value.includes("\n")) return value.trimEnd().split("\n");
  if (!isRecord(value)) return [toCell(value, root)];
  return Object.entries(value).flatMap(([key, inner]) => {
    const inline = toInline(inner, root);
    if (inline !== undefined) return [`${key}: ${inline}`];
    return [`${key}:`, ...linesOf(inner, root).map((line) => INDENT + line)];
  });
}

/** What fits behind its key on one line. */
function toInline(value: unknown, root: string): string | undefined {
  if (!isNested(value))
    return typeof value === "string" && value.includes("\n") ? undefined : toCell(value, root);
  if (Array.isArray(value)) {
    if (value.length === 0) return "none";
    const joined = value.map((item) => toCell(item, root)).join(", ");
    return value.some(isNested) || joined.length > MAX_INLINE_CHARS ? undefined : joined;
  }
  if (Object.keys(value).length === 0) return "none";
  return isRange(value) ? toCell(value, root) : undefined;
}

function listLines(list: readonly unknown[], root: string): string[] {
  if (list.length === 0) return ["none"];
  const rows = list.filter(isRecord);
  if (rows.length < list.length) return list.flatMap((item) => linesOf(item, root));
  if (!rows.every(isFlat)) return rows.flatMap((row, at) => [...(at > 0 ? [""] : []), ...linesOf(row, root)]);
  return toTable(rows, root);
}

/** A place in a file is one cell that editors understand: `path:line:column`, counted from 1. */
function toTable(rows: readonly Data[], root: string): string[] {
  const flat = rows.map((row): Data => {
    const { uri, range, ...rest } = row;
    if (typeof uri !== "string" || !isRange(range)) return row;
    return { place: `${toPath(uri, root)}:${range.start.line + 1}:${range.start.col + 1}`, ...rest };
  });
  const columns = [...new Set(flat.flatMap((row) => Object.keys(row)))];
  const cells = flat.map((row) => columns.map((column) => shortened(toCell(row[column], root))));
  return toColumns([columns, ...cells]);
}

const cut = (text: string) =>
  text.length > MAX_CELL_CHARS ? `${text.slice(0, MAX_CELL_CHARS)}… (${text.length} characters)` : text;

const shortened = (cell: string) => (HASH.test(cell) ? `${cell.slice(0, SHORT_HASH_CHARS)}…` : cell);
const HASH = /^sha256:[0-9a-f]{64}$/;

function toCell(value: unknown, root: string): string {
  if (value === null || value === undefined) return "-";
  if (typeof value === "string") return toOneLine(cut(toPath(value, root)));
  if (isRange(value))
    return `${value.start.line + 1}:${value.start.col + 1}-${value.end.line + 1}:${value.end.col + 1}`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The path can be given back to a tool as it is; a URI with encoded bytes in it stays a URI. */
function toPath(text: string, root: string): string {
  const path = text.startsWith(`${root}/`) ? text.slice(root.length + 1) : "";
  return path !== "" && !path.includes("%") ? path : text;
}

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;
const isRecord = (value: unknown): value is Data => isNested(value) && !Array.isArray(value);
const isRange = (value: unknown): value is Range => isRecord(value) && Range.safeParse(value).success;

/** Fits into a row of a table. */
const isFlat = (row: Data) =>
  Object.values(row).every((value) => {
    if (typeof value === "string") return !value.includes("\n");
    return !isNested(value) || isRange(value) || JSON.stringify(value).length <= MAX_INLINE_CHARS;
  });
