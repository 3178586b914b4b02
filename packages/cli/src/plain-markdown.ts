import { styleText } from "node:util";
import { toVisible } from "@octant/core";
import { toColumns } from "./columns.ts";
import { type Format, Painted } from "./output.ts";

type Style = (format: Format, text: string) => string;

/** Renders the Markdown of the manuals (headings, tables, lists, code, asides) as text for a terminal. */
export function toPlainText(markdown: string, stream: NodeJS.WritableStream): Painted {
  const style: Style = (format, text) => styleText(format, text, { stream });
  const lines: string[] = [];
  let table: string[][] = [];
  for (const line of [...toVisible(markdown).split("\n"), ""]) {
    const cells = toCells(line, style);
    if (cells) {
      table.push(cells);
      continue;
    }
    lines.push(...toTable(table, style));
    table = [];
    lines.push(toLine(line, style));
  }
  return new Painted(lines.join("\n").trimEnd());
}

function toLine(line: string, style: Style): string {
  const heading = /^#+ (.*)$/.exec(line)?.[1];
  if (heading !== undefined) return style("bold", heading);
  // Elsewhere in a line an asterisk is more likely part of a glob.
  const aside = /^\*([^*]+)\*$/.exec(line)?.[1];
  return aside === undefined ? withoutTicks(line, style) : style("dim", aside);
}

/** The cells of a table row; undefined for any other line. */
function toCells(line: string, style: Style): string[] | undefined {
  if (!/^\|.*\|$/.test(line)) return undefined;
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => withoutTicks(cell.trim().replaceAll(/\\([|*])/g, "$1"), style));
}

function toTable([head, rule, ...rows]: string[][], style: Style): string[] {
  if (!head || !rule) return [];
  const [titles, ...body] = toColumns([head, ...rows].map((row) => ["", ...row]));
  return [style("dim", titles ?? ""), ...body];
}

const withoutTicks = (text: string, style: Style) =>
  text.replace(/`([^`]+)`/g, (_, code: string) => style("cyan", code));
