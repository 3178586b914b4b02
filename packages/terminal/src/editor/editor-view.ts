import { toOneLine } from "@octant/core";
import { graphemes, type Line, type Span, type Style, span, widthOf } from "../styled.ts";
import { selection } from "../vim/visual.ts";
import type { EditorState } from "./editor.ts";

export type EditorView = { lines: Line[]; cursor: { row: number; column: number } };

const PROMPT = "› ";
const CONTINUATION = "  ";

/** Draws the input, wrapped to the width, at most `maxRows` high around the cursor. */
export function viewEditor(state: EditorState, width: number, maxRows: number, hint: string): EditorView {
  const { input } = state;
  const room = Math.max(width - widthOf(PROMPT) - 1, 4);
  const selected = input.mode === "visual" || input.mode === "visual-line" ? selectedRange(state) : undefined;
  const rows: Span[][] = [[]];
  let column = 0;
  let cursor = { row: 0, column: 0 };
  const newRow = () => {
    rows.push([]);
    column = 0;
  };
  let at = 0;
  for (const piece of graphemes(input.text)) {
    const shown = piece === "\n" ? "" : piece === "\t" ? "    " : toOneLine(piece);
    const size = widthOf(shown);
    if (column + size > room) newRow();
    if (at === input.cursor) cursor = { row: rows.length - 1, column };
    const style: Style = selected && at >= selected.start && at < selected.end ? { inverse: true } : {};
    if (shown !== "") rows.at(-1)!.push(span(shown, style));
    else if (style.inverse) rows.at(-1)!.push(span(" ", style));
    column += size;
    at += piece.length;
    if (piece === "\n") newRow();
  }
  if (input.cursor >= input.text.length) {
    if (column >= room) newRow();
    cursor = { row: rows.length - 1, column };
  }
  if (input.text === "" && hint !== "") rows[0] = [span(hint, { role: "muted" })];
  const first = Math.min(Math.max(cursor.row - maxRows + 1, 0), Math.max(rows.length - maxRows, 0));
  const lines = rows.slice(first, first + maxRows).map((row, i) => {
    const lead = first + i === 0 ? span(PROMPT, { role: "accent", bold: true }) : span(CONTINUATION);
    return [lead, ...row];
  });
  return { lines, cursor: { row: cursor.row - first, column: cursor.column + widthOf(PROMPT) } };
}

function selectedRange({ input }: EditorState): { start: number; end: number } {
  const range = selection(input);
  if (!range.linewise) return range;
  const end = input.text.indexOf("\n", range.end);
  return {
    start: input.text.lastIndexOf("\n", range.start - 1) + 1,
    end: end === -1 ? input.text.length : end,
  };
}
