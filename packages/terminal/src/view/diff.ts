import type { Role } from "../paint.ts";
import { type Line, span, textLines } from "../styled.ts";
import { viewRows } from "./rows.ts";

/** A unified diff in colour, at most `maxRows` high; the last row says how much was omitted. */
export function viewDiff(diff: string, width: number, maxRows: number): Line[] {
  const rows = diffRows(textLines(diff.replace(/\n$/, "")), width);
  if (rows.length <= maxRows) return rows;
  const shown = rows.slice(0, maxRows - 1);
  return [...shown, [span(`  … ${rows.length - shown.length} more lines`, { role: "muted" })]];
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
