import type { Role } from "../paint.ts";
import { type Line, span, textLines } from "../styled.ts";
import { viewRows } from "./rows.ts";

/** A unified diff in colour, at most `maxRows` high; the last row says how much was omitted. */
export function viewDiff(diff: string, width: number, maxRows: number): Line[] {
  const rows = diffRows(textLines(diff.replace(/\r?\n$/, "")), width);
  if (rows.length <= maxRows) return rows;
  const shown = rows.slice(0, maxRows - 1);
  return [
    ...shown,
    [span(`  … ${rows.length - shown.length} more lines; Ctrl-O shows all`, { role: "muted" })],
  ];
}

/** All lines of a diff, wrapped. */
export const diffRows = (lines: readonly string[], width: number): Line[] =>
  lines.flatMap((line) => viewRows([span(line, { role: roleOf(line) })], "  ", width));

function roleOf(line: string): Role {
  if (line.startsWith("+++") || line.startsWith("---") || line.startsWith("diff ")) return "heading";
  if (line.startsWith("@@")) return "accent";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "muted";
}

/** The change that an edit makes, from its arguments; undefined when they do not say. */
export function diffOfInput(input: Readonly<Record<string, unknown>>): string | undefined {
  const { patch, content, files } = input;
  if (typeof patch === "string") return patch;
  const uri = String(input["uri"] ?? input["path"] ?? input["file_path"] ?? "");
  if (Array.isArray(patch))
    return [`--- ${uri}`, ...patch.flatMap((edit: unknown) => editRows(Object(edit)))].join("\n");
  if (typeof content === "string") return [`+++ ${uri}`, ...marked("+", content)].join("\n");
  if (!Array.isArray(files)) return undefined;
  const all = files.flatMap((file: unknown) => diffOfInput(Object(file)) ?? []);
  return all.length > 0 ? all.join("\n") : undefined;
}

const editRows = ({ old, new: added, text, content }: Readonly<Record<string, unknown>>): string[] => [
  ...marked("-", old),
  ...marked("+", added ?? text ?? content),
];

const marked = (sign: string, text: unknown): string[] =>
  typeof text === "string" && text !== ""
    ? text
        .replace(/\r?\n$/, "")
        .split("\n")
        .map((line) => sign + line)
    : [];
