import { leaveInsert, typeAgain } from "./insert.ts";
import { withMark } from "./marks.ts";
import { MOTIONS, type Motion, searchOf } from "./motions.ts";
import {
  join,
  mapped,
  motionRange,
  openForChange,
  remove,
  shift,
  taken,
  wholeRange,
  writeRegister,
} from "./operators.ts";
import type { Command } from "./parse.ts";
import { putRegister, replaceByRegister } from "./put.ts";
import type { Change, SelectionSize, VimState } from "./state.ts";
import {
  atColumn,
  columnOf,
  firstNonBlank,
  lastRow,
  lineEnd,
  lineStart,
  next,
  onCharacter,
  previous,
  rowOf,
  startOfRow,
} from "./text.ts";
import { type TextRange, textObject } from "./text-objects.ts";
import { redo, remember, undo } from "./undo.ts";

/** Runs one complete command of normal mode. A failing command changes nothing. */
export function runNormal(state: VimState, command: Command): VimState {
  const { verb, count } = command;
  if (verb === "move") return move(state, command);
  if (verb === "u") return undo(state, count ?? 1);
  if (verb === "Ctrl-R") return redo(state, count ?? 1);
  if (verb === ".") return repeat(state, count);
  if (verb === "v") return { ...state, mode: "visual", anchor: state.cursor };
  if (verb === "V") return { ...state, mode: "visual-line", anchor: state.cursor };
  if (verb === ":") return { ...state, mode: "command", commandLine: "" };
  if (verb === "m") return withMark(state, command.argument ?? "", state.cursor);
  return change(state, { command, typed: [] });
}

function move(state: VimState, command: Command): VimState {
  const motion = motionOf(state, command);
  if (!motion) return rememberFind(state, command);
  const from = motion.to === state.cursor ? state : beforeJump(state, command);
  const moved = { ...from, cursor: onCharacter(state.text, motion.to), column: motion.column };
  return rememberFind(moved, command);
}

const JUMPS = new Set([..."G%{}()'`nN/?", "gg"]);

/** A far motion leaves a mark where it began. */
export const beforeJump = (state: VimState, { motion }: Command): VimState =>
  motion && JUMPS.has(motion.name) ? withMark(state, "'", state.cursor) : state;

/** f, t, F and T are remembered for ";" and ",", and searches for "n" and "N", also when an operator used them. */
export function rememberFind(state: VimState, { motion }: Command): VimState {
  const name = motion?.name;
  if (name === "/" || name === "?")
    return { ...state, lastSearch: searchOf(name, motion?.argument ?? "", state.lastSearch) };
  if (name !== "f" && name !== "F" && name !== "t" && name !== "T") return state;
  return { ...state, lastFind: { key: name, character: motion?.argument ?? "" } };
}

export function motionOf(state: VimState, { motion, verb }: Command, visual = false): Motion | undefined {
  if (!motion) return;
  const { text, cursor } = state;
  return MOTIONS[motion.name]?.({
    text,
    cursor,
    count: motion.count,
    argument: motion.argument,
    column: state.column ?? columnOf(text, cursor),
    operator: verb === "move" ? undefined : verb,
    visual,
    lastFind: state.lastFind,
    marks: state.marks,
    lastSearch: state.lastSearch,
  });
}

/** Runs a command that may change the text. */
function change(state: VimState, made: Change): VimState {
  const { command, selection } = made;
  const range = selection
    ? selectedAgain(state.text, state.cursor, selection)
    : operatorRange(state, command);
  const after = range ? editRange(beforeJump(state, command), command, range) : edit(state, command);
  if (!after) return rememberFind(state, command);
  return record(state, made, rememberFind(after, command), range?.start ?? state.cursor);
}

const OPERATORS = /^(?:[dcy<>]|g[uU~])$/;

/** Remembers a change that began at `start` for "u" and ".". */
export function record(state: VimState, made: Change, after: VimState, start: number): VimState {
  const { verb, count = 1 } = made.command;
  const { text } = state;
  const found = { ...after, column: undefined };
  if (found.mode === "insert") {
    const before = { text, cursor: found.text === text ? found.cursor : start };
    return { ...found, insert: { before, change: made, times: INSERTS.has(verb) ? count : 1 } };
  }
  if (verb === "y") return found;
  return { ...remember(found, { text, cursor: start }), lastChange: made };
}

/** Commands whose count repeats the inserted text. */
const INSERTS = new Set(["i", "a", "I", "A", "o", "O", "R"]);

/** Commands without an operator. Returns undefined when the command fails. */
function edit(state: VimState, command: Command): VimState | undefined {
  const { text, cursor } = state;
  const { verb, count = 1 } = command;
  const end = lineEnd(text, cursor);
  const insertAt = (at: number, changed = text): VimState => ({
    ...state,
    text: changed,
    cursor: at,
    mode: "insert",
  });
  switch (verb) {
    case "i":
    case "R":
      return insertAt(cursor);
    case "a":
      return insertAt(cursor < end ? next(text, cursor) : cursor);
    case "I":
      return insertAt(firstNonBlank(text, cursor));
    case "A":
      return insertAt(end);
    case "o":
      return insertAt(end + 1, `${text.slice(0, end)}\n${text.slice(end)}`);
    case "O": {
      const start = lineStart(text, cursor);
      return insertAt(start, `${text.slice(0, start)}\n${text.slice(start)}`);
    }
    case "p":
    case "P":
      return putRegister(state, command);
    case "J":
    case "gJ": {
      const joined = join(text, cursor, count, verb === "gJ");
      return joined && { ...state, ...joined };
    }
    case "~": {
      if (cursor === end) return;
      const last = atColumn(text, cursor, count);
      const changed = mapped(text, cursor, last, toggled);
      return { ...state, text: changed, cursor: onCharacter(changed, last) };
    }
    case "r":
      return replaceCharacters(state, command.argument ?? "", count);
    default:
      return undefined;
  }
}

/** The range of an operator; undefined for another command, and when there is nothing to operate on. */
function operatorRange(state: VimState, command: Command): TextRange | undefined {
  const { text, cursor } = state;
  const { verb, count = 1 } = command;
  if (!OPERATORS.test(verb)) return;
  if (command.lines) {
    const row = rowOf(text, cursor);
    if (count > 1 && row === lastRow(text)) return;
    const end = startOfRow(text, Math.min(row + count - 1, lastRow(text)));
    const start = /^[dcy]$/.test(verb)
      ? cursor
      : Math.min(cursor, onCharacter(text, firstNonBlank(text, end)));
    return { start, end, linewise: true };
  }
  const motion = motionOf(state, command);
  const range = command.object
    ? objectRange(text, cursor, command)
    : motion && motionRange(text, cursor, motion, verb);
  const isNothing = range && !range.linewise && range.start === range.end;
  return isNothing && (command.object ? verb === "d" : verb !== "c") ? undefined : range;
}

function objectRange(text: string, cursor: number, { object, count = 1, verb }: Command) {
  const range = object && textObject(object.key)?.(text, cursor, object.around, count);
  return range?.kind ? motionRange(text, range.start, { to: range.end, kind: range.kind }, verb) : range;
}

/** Runs an operator, or a command of visual mode, on a range. */
export function editRange(state: VimState, command: Command, range: TextRange): VimState {
  const { text } = state;
  const { verb, register, argument = "" } = command;
  if (/^[dcy]$/.test(verb)) return operate(state, verb, range, register);
  const normal: VimState = { ...state, mode: "normal" };
  const last = range.linewise ? range.end : Math.max(previous(text, range.end), range.start);
  if (verb === ">" || verb === "<") {
    const times = state.mode === "normal" ? 1 : (command.count ?? 1);
    return { ...normal, ...shift(text, { ...range, end: last }, verb === ">" ? times : -times) };
  }
  if (verb === "J" || verb === "gJ") {
    const rows = rowOf(text, last) - rowOf(text, range.start) + 1;
    const joined = join(text, range.start, rows, verb === "gJ");
    return { ...normal, ...(joined ?? { cursor: onCharacter(text, range.start) }) };
  }
  const toCharacter = verb === "r" ? () => argument : CASES[verb];
  if (!toCharacter) return replaceByRegister(normal, range, command);
  const { from, to } = wholeRange(text, range);
  const changed = mapped(text, from, to, toCharacter);
  return { ...normal, text: changed, cursor: onCharacter(changed, range.start) };
}

const toggled = (c: string): string => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase());
const CASES: Readonly<Record<string, (character: string) => string>> = {
  "~": toggled,
  u: (c) => c.toLowerCase(),
  U: (c) => c.toUpperCase(),
  "g~": toggled,
  gu: (c) => c.toLowerCase(),
  gU: (c) => c.toUpperCase(),
};

function operate(
  state: VimState,
  operator: string,
  range: TextRange,
  register: string | undefined,
): VimState {
  const { text } = state;
  const registers = writeRegister(state.registers, register, taken(text, range), operator === "y");
  const normal = { ...state, registers, column: undefined, mode: "normal" as const };
  if (operator === "y") return { ...normal, cursor: onCharacter(text, range.start) };
  if (operator === "d") return { ...normal, ...remove(text, range) };
  return { ...normal, ...openForChange(text, range), mode: "insert" };
}

function replaceCharacters(state: VimState, character: string, count: number): VimState | undefined {
  const { text, cursor } = state;
  const end = atColumn(text, cursor, count);
  if (columnOf(text, end) - columnOf(text, cursor) < count) return;
  if (character === "\n") {
    const changed = `${text.slice(0, cursor)}\n${text.slice(end)}`;
    return { ...state, text: changed, cursor: onCharacter(changed, firstNonBlank(changed, cursor + 1)) };
  }
  const changed = text.slice(0, cursor) + character.repeat(count) + text.slice(end);
  return { ...state, text: changed, cursor: cursor + character.length * (count - 1) };
}

function repeat(state: VimState, count: number | undefined): VimState {
  const last = state.lastChange;
  if (!last) return state;
  const begun = change(
    state,
    count === undefined ? last : { ...last, command: withCount(last.command, count) },
  );
  if (begun.mode !== "insert" || !begun.insert) return begun;
  const insert = { ...begun.insert, change: { ...begun.insert.change, typed: last.typed } };
  return leaveInsert({ ...begun, ...typeAgain(begun, last), insert });
}

const withCount = (command: Command, count: number): Command => ({
  ...command,
  count,
  motion: command.motion && { ...command.motion, count },
});

/** As much text from the cursor as a visual selection had. */
function selectedAgain(text: string, cursor: number, { linewise, rows, columns }: SelectionSize): TextRange {
  const last = startOfRow(text, Math.min(rowOf(text, cursor) + rows - 1, lastRow(text)));
  if (linewise) return { start: cursor, end: last, linewise };
  return { start: cursor, end: atColumn(text, rows === 1 ? cursor : last, columns), linewise };
}
