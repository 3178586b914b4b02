import type { Role } from "../paint.ts";
import { type Line, span, textLines, truncate } from "../styled.ts";

/** A unified diff in colour, at most `maxLines` high; the last line says how much was omitted. */
export function viewDiff(diff: string, width: number, maxLines: number): Line[] {
  const lines = textLines(diff.replace(/\n$/, ""));
  const shown = lines.slice(0, lines.length > maxLines ? maxLines - 1 : maxLines);
  const rendered = shown.map((line) => truncate([span("  "), span(line, { role: roleOf(line) })], width));
  const left = lines.length - shown.length;
  return left > 0 ? [...rendered, [span(`  … ${left} more lines`, { role: "muted" })]] : rendered;
}

function roleOf(line: string): Role {
  if (line.startsWith("+++") || line.startsWith("---") || line.startsWith("diff ")) return "heading";
  if (line.startsWith("@@")) return "accent";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "muted";
}
