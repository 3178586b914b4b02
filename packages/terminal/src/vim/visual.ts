import { type Insertion, lowerCase, motionOf, operate, rememberFind, upperCase } from "./normal.ts";
import { join, mapped, put, remove, taken, toggleCase } from "./operators.ts";
import type { Command } from "./parse.ts";
import { readRegister, writeRegister } from "./registers.ts";
import type { Change, SelectionSize, VimState } from "./state.ts";
import { columnOf, lineEnd, lineStart, next, onCharacter, previous, rowOf } from "./text.ts";
import { type TextRange, textObject } from "./text-objects.ts";
import { remember } from "./undo.ts";

/** Runs one complete command of visual mode. */
export function runVisual(state: VimState, command: Command, _insertion: Insertion): VimState {
  const { verb } = command;
  if (verb === "move") return extend(state, command);
  if (verb === "select") return select(state, command);
  if (verb === "Escape") return leave(state);
  if (verb === "o" || verb === "O") return { ...state, cursor: state.anchor, anchor: state.cursor };
  if (verb === "v") return state.mode === "visual" ? leave(state) : { ...state, mode: "visual" };
  if (verb === "V") return state.mode === "visual-line" ? leave(state) : { ...state, mode: "visual-line" };
  if (verb === ":") return { ...leave(state), mode: "command", commandLine: "" };
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
  column: state.column,
});

function extend(state: VimState, command: Command): VimState {
  const motion = motionOf(state, command, true);
  if (!motion) return state;
  return rememberFind({ ...state, cursor: motion.to, column: motion.column }, command);
}

function select(state: VimState, command: Command): VimState {
  const { key, around } = command.object ?? { key: "", around: false };
  const extending = state.cursor > state.anchor;
  const from = extending ? next(state.text, state.cursor) : state.cursor;
  const range = textObject(key)?.(state.text, from, around, command.count ?? 1);
  if (!range || range.end <= range.start) return state;
  if (extending && !range.linewise)
    return { ...state, mode: "visual", cursor: previous(state.text, range.end) };
  if (range.linewise) return { ...state, mode: "visual-line", anchor: range.start, cursor: range.end };
  return { ...state, mode: "visual", anchor: range.start, cursor: previous(state.text, range.end) };
}

function change(state: VimState, command: Command): VimState {
  const before = { text: state.text, cursor: selection(state).start };
  const made: Change = { command: repeatable(command), typed: [], selection: sizeOf(state, command) };
  const after = { ...edit(state, command), anchor: 0, column: undefined };
  if (after.mode === "insert") return { ...after, insert: { before, change: made, times: 1 } };
  if (command.verb === "y" || command.verb === "Y") return after;
  return { ...remember(after, before), lastChange: made };
}

const OPERATOR: Readonly<Record<string, string>> = {
  d: "d",
  x: "d",
  X: "d",
  D: "d",
  c: "c",
  s: "c",
  C: "c",
  S: "c",
  y: "y",
  Y: "y",
};
const WHOLE_LINES = new Set(["X", "D", "C", "S", "Y"]);

const repeatable = (command: Command): Command => ({
  ...command,
  verb: OPERATOR[command.verb] ?? command.verb,
});

function sizeOf(state: VimState, { verb }: Command): SelectionSize {
  const { text } = state;
  const range = selection(state);
  const lastCharacter = range.linewise ? range.end : previous(text, range.end);
  const rows = rowOf(text, lastCharacter) - rowOf(text, range.start) + 1;
  const from = rows === 1 ? columnOf(text, range.start) : 0;
  const columns = columnOf(text, lastCharacter) - from + 1;
  return { linewise: range.linewise || WHOLE_LINES.has(verb), rows, columns };
}

function edit(state: VimState, command: Command): VimState {
  const { text } = state;
  const { verb, register } = command;
  const range = selection(state);
  const normal: VimState = { ...state, mode: "normal" };
  const operator = OPERATOR[verb];
  if (operator) {
    const linewise = range.linewise || WHOLE_LINES.has(verb);
    const last = linewise && !range.linewise ? previous(text, range.end) : range.end;
    return operate(state, operator, { ...range, end: last, linewise }, register);
  }
  const [from, to] = range.linewise
    ? [lineStart(text, range.start), lineEnd(text, range.end)]
    : [range.start, range.end];
  const replaced = (changed: string): VimState => ({
    ...normal,
    text: changed,
    cursor: onCharacter(changed, range.start),
  });
  switch (verb) {
    case "~":
      return replaced(toggleCase(text, from, to));
    case "u":
      return replaced(lowerCase(text, from, to));
    case "U":
      return replaced(upperCase(text, from, to));
    case "r":
      return replaced(mapped(text, from, to, () => command.argument ?? ""));
    case "J": {
      const rows =
        rowOf(text, range.linewise ? range.end : previous(text, range.end)) - rowOf(text, range.start) + 1;
      return { ...normal, ...(join(text, range.start, rows) ?? { cursor: onCharacter(text, range.start) }) };
    }
    default:
      return replaceByRegister(normal, range, command);
  }
}

/** p in visual mode swaps the selection with the register. */
function replaceByRegister(
  state: VimState,
  range: TextRange,
  { verb, register, count = 1 }: Command,
): VimState {
  const value = readRegister(state.registers, register);
  const registers =
    verb === "P"
      ? state.registers
      : writeRegister(state.registers, undefined, taken(state.text, range), false);
  const removed = remove(state.text, range);
  const atEnd = range.linewise ? lineEnd(state.text, range.end) === state.text.length : false;
  if (range.linewise && removed.text === "" && lineStart(state.text, range.start) === 0) {
    return { ...state, registers, text: value.text, cursor: 0 };
  }
  if (range.linewise) {
    const lines = { text: value.text, linewise: true };
    return { ...state, registers, ...put(removed.text, removed.cursor, lines, count, !atEnd) };
  }
  if (!value.linewise) {
    const added = value.text.repeat(count);
    const text = removed.text.slice(0, range.start) + added + removed.text.slice(range.start);
    const end =
      value.text.includes("\n") || added === "" ? range.start : previous(text, range.start + added.length);
    return { ...state, registers, text, cursor: onCharacter(text, end) };
  }
  const split = `${removed.text.slice(0, range.start)}\n${removed.text.slice(range.start)}`;
  return { ...state, registers, ...put(split, range.start, value, count, false) };
}
