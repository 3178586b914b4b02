import { selectSentence } from "./blocks.ts";
import { withMark } from "./marks.ts";
import { beforeJump, editRange, motionOf, record, rememberFind } from "./normal.ts";
import type { Command } from "./parse.ts";
import type { SelectionSize, VimState } from "./state.ts";
import { columnOf, lineStart, next, onCharacter, previous, rowOf } from "./text.ts";
import { type TextRange, textObject } from "./text-objects.ts";

/** Runs one complete command of visual mode. */
export function runVisual(state: VimState, command: Command): VimState {
  const { verb } = command;
  if (verb === "move") return extend(state, command);
  if (verb === "select") return select(state, command);
  if (verb === "Escape") return leave(state);
  if (verb === "o" || verb === "O") return { ...state, cursor: state.anchor, anchor: state.cursor };
  if (verb === "v") return state.mode === "visual" ? leave(state) : { ...state, mode: "visual" };
  if (verb === "V") return state.mode === "visual-line" ? leave(state) : { ...state, mode: "visual-line" };
  if (verb === ":") return { ...leave(state), mode: "command", commandLine: "" };
  if (verb === "m") return withMark(state, command.argument ?? "", state.cursor);
  return change(state, command);
}

/** The text between anchor and cursor, both included. */
export function selection({ text, mode, anchor, cursor }: VimState): TextRange {
  const [start, last] = anchor < cursor ? [anchor, cursor] : [cursor, anchor];
  if (mode === "visual-line") {
    // Afterwards the cursor stays when the selection went up, and otherwise moves to the start of the first line.
    const wentUp = rowOf(text, cursor) < rowOf(text, anchor);
    return { start: wentUp ? start : lineStart(text, start), end: last, linewise: true };
  }
  return { start, end: next(text, last), linewise: false };
}

const leave = (state: VimState): VimState => ({
  ...state,
  mode: "normal",
  cursor: onCharacter(state.text, state.cursor),
});

function extend(state: VimState, command: Command): VimState {
  const motion = motionOf(state, command, true);
  if (!motion) return state;
  return rememberFind({ ...beforeJump(state, command), cursor: motion.to, column: motion.column }, command);
}

function select(state: VimState, command: Command): VimState {
  const { text, anchor } = state;
  const { key, around } = command.object ?? { key: "", around: false };
  const count = command.count ?? 1;
  if (key === "s")
    return { ...state, mode: "visual", ...selectSentence(text, anchor, state.cursor, around, count) };
  const extending = state.cursor > anchor;
  const from = extending ? next(text, state.cursor) : state.cursor;
  const range = textObject(key)?.(text, from, around, count);
  if (range?.linewise) return { ...state, mode: "visual-line", anchor: range.start, cursor: range.end };
  if (!range || range.end <= range.start) return state;
  const cursor = previous(text, range.end);
  return { ...state, mode: "visual", anchor: extending ? anchor : range.start, cursor };
}

function change(state: VimState, command: Command): VimState {
  const { text } = state;
  const chosen = selection(state);
  const isWidened = command.lines && !chosen.linewise;
  const range = isWidened ? { ...chosen, end: previous(text, chosen.end), linewise: true } : chosen;
  const made = { command, typed: [], selection: sizeOf(text, chosen, range.linewise) };
  return record(state, made, editRange(state, command, range), range.start);
}

/** The shape of a selection that is changed as characters or as lines. */
function sizeOf(text: string, range: TextRange, linewise: boolean): SelectionSize {
  const last = range.linewise ? range.end : previous(text, range.end);
  const rows = rowOf(text, last) - rowOf(text, range.start) + 1;
  const from = rows === 1 ? columnOf(text, range.start) : 0;
  return { linewise, rows, columns: columnOf(text, last) - from + 1 };
}
