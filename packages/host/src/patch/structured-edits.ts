import { type Position, toRange } from "@octant/core";
import {
  type Edited,
  type HunkReport,
  type Match,
  patchFailed,
  type Splice,
  type StructuredEdit,
} from "./change.ts";
import { lineFinder } from "./find-lines.ts";
import { eolAt, type Lines, lineOf, startOf, textAt } from "./lines.ts";
import { findReplaced, toPlainText } from "./replaced-text.ts";
import type { TextForm } from "./text-form.ts";

/** Locates the change of every edit in the current file, and refuses overlapping edits. */
export function editByStructure(lines: Lines, edits: readonly StructuredEdit[], form: TextForm): Edited {
  const finder = lineFinder(lines);
  const plain = toPlainText(lines.text);
  const found = edits.map((edit, i): { splices: readonly Splice[]; match: Match } => {
    if (edit.op === "replace")
      return findReplaced(finder, plain, edit, { number: i + 1, toDisplay: form.toDisplay });
    const splice = edit.op === "insert" ? insertion(lines, edit, i + 1) : deletion(lines, edit, form, i + 1);
    return { splices: [splice], match: "exact" };
  });
  const splices = found
    .flatMap(({ splices }, i) => splices.map((splice) => ({ ...splice, number: i + 1 })))
    .sort((a, b) => a.start - b.start || a.end - b.end);
  for (const [i, splice] of splices.entries()) {
    const before = splices[i - 1];
    if (before && before.end > splice.start) throw overlap(lines, before.number, splice);
  }
  return {
    splices,
    hunks: toReports(lines, splices),
    match: found.some(({ match }) => match === "whitespace") ? "whitespace" : "exact",
  };
}

function insertion(lines: Lines, edit: StructuredEdit & { op: "insert" }, number: number): Splice {
  const { line } = edit;
  if (line > lines.count) throw noSuchLine(lines, line, number);
  const at = startOf(lines, line);
  const eol = eolAt(lines, line - 1) || eolAt(lines, line) || eolAt(lines, line - 2) || "\n";
  const text = edit.text.replace(/\r?\n/g, () => eol);
  const afterOpenEnd = line > 0 && eolAt(lines, line - 1) === "";
  if (afterOpenEnd) return { start: at, end: at, text: eol + text };
  return { start: at, end: at, text: text.endsWith("\n") ? text : text + eol };
}

function deletion(
  lines: Lines,
  edit: StructuredEdit & { op: "delete" },
  form: TextForm,
  number: number,
): Splice {
  const range = toRange(edit, lines.count);
  if (!range) throw patchFailed(`edit ${number}: give range or lines`, { hunk: number });
  const start = offsetOf(lines, range.start, form, number);
  const end = offsetOf(lines, range.end, form, number);
  if (end < start) throw patchFailed(`edit ${number}: its range ends before it starts`, { hunk: number });
  return { start, end, text: "" };
}

function offsetOf(lines: Lines, { line, col }: Position, form: TextForm, number: number): number {
  if (line > lines.count || (line === lines.count && col > 0)) throw noSuchLine(lines, line, number);
  const index = form.indexOfColumn(textAt(lines, line), col);
  if (index !== undefined) return startOf(lines, line) + index;
  const message = `edit ${number}: line ${line + 1} has no column ${col + 1}: it is shorter, or a character spans it`;
  throw patchFailed(message, { hunk: number, line });
}

const noSuchLine = (lines: Lines, line: number, number: number) =>
  patchFailed(`edit ${number}: there is no line ${line + 1}; the file has ${lines.count} lines`, {
    hunk: number,
    line,
  });

function overlap(lines: Lines, first: number, second: Splice & { number: number }) {
  const line = lineOf(lines, second.start);
  const message = `edits ${first} and ${second.number} overlap at line ${line + 1}; make them one edit`;
  return patchFailed(message, { hunk: second.number, line });
}

function toReports(lines: Lines, splices: readonly Splice[]): HunkReport[] {
  let growth = 0;
  return splices.map(({ start, end, text }) => {
    const old = lines.text.slice(start, end);
    const line = lineOf(lines, start);
    const wholeLines =
      startOf(lines, line) === start &&
      (startOf(lines, lineOf(lines, end)) === end || end === lines.text.length);
    const removed = wholeLines ? lineCount(old) : newlineCount(old) + 1;
    const added = wholeLines ? lineCount(text) : newlineCount(text) + 1;
    const report = { line: line + growth, added, removed, offset: 0 };
    growth += newlineCount(text) - newlineCount(old);
    return report;
  });
}

const newlineCount = (text: string) => text.split("\n").length - 1;
const lineCount = (text: string) => newlineCount(text) + (text === "" || text.endsWith("\n") ? 0 : 1);
