import { insertKey } from "./insert.ts";
import { MOTIONS, type Motion } from "./motions.ts";
import { join, mapped, motionRange, openForChange, put, remove, taken, toggleCase } from "./operators.ts";
import type { Command } from "./parse.ts";
import { readRegister, writeRegister } from "./registers.ts";
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
  rowOf,
  startOfRow,
} from "./text.ts";
import { type TextRange, textObject } from "./text-objects.ts";
import { redo, remember, undo } from "./undo.ts";

export type Insertion = { leaveInsert: (state: VimState) => VimState };

/** Runs one complete command of normal mode. A failing command changes nothing. */
export function runNormal(state: VimState, command: Command, insertion: Insertion): VimState {
  const { verb, count } = command;
  if (verb === "move") return move(state, command);
  if (verb === "u") return undo(state, count ?? 1);
  if (verb === "Ctrl-R") return redo(state, count ?? 1);
  if (verb === ".") return repeat(state, count, insertion);
  if (verb === "v") return { ...state, mode: "visual", anchor: state.cursor };
  if (verb === "V") return { ...state, mode: "visual-line", anchor: state.cursor };
  if (verb === ":") return { ...state, mode: "command", commandLine: "" };
  return change(state, { command, typed: [] });
}

function move(state: VimState, command: Command): VimState {
  const motion = motionOf(state, command);
  if (!motion) return rememberFind(state, command);
  const moved = { ...state, cursor: onCharacter(state.text, motion.to), column: motion.column };
  return rememberFind(moved, command);
}

/** f, t, F and T are remembered for ";" and ",", also when an operator used them. */
export function rememberFind(state: VimState, { motion }: Command): VimState {
  const name = motion?.name;
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
  });
}

/** Runs a command that may change the text, and remembers it for "u" and ".". */
function change(state: VimState, made: Change): VimState {
  const range = operatedRange(state, made);
  const after = range
    ? operate(state, operatorOf(made.command), range, made.command.register)
    : edit(state, made.command);
  if (!after) return rememberFind(state, made.command);
  const before = { text: state.text, cursor: range?.start ?? state.cursor };
  const found = rememberFind({ ...after, column: undefined }, made.command);
  if (found.mode === "insert") {
    const times = INSERTS.has(made.command.verb) ? (made.command.count ?? 1) : 1;
    const begun = found.text === state.text ? { text: state.text, cursor: found.cursor } : before;
    return { ...found, insert: { before: begun, change: made, times } };
  }
  if (made.command.verb.startsWith("y") || made.command.verb === "Y") return found;
  return { ...remember(found, before), lastChange: made };
}

/** Commands whose count repeats the inserted text. */
const INSERTS = new Set(["i", "a", "I", "A", "o", "O"]);

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
    case "J": {
      const joined = join(text, cursor, count);
      return joined && { ...state, ...joined };
    }
    case "~": {
      if (cursor === end) return;
      const last = atColumn(text, cursor, count);
      const changed = toggleCase(text, cursor, last);
      return { ...state, text: changed, cursor: onCharacter(changed, last) };
    }
    case "r":
      return replaceCharacters(state, command.argument ?? "", count);
    default:
      return undefined;
  }
}

/** The operator behind a shorthand. */
const OPERATOR: Readonly<Record<string, string>> = {
  x: "d",
  X: "d",
  D: "d",
  dd: "d",
  s: "c",
  S: "c",
  C: "c",
  cc: "c",
  Y: "y",
  yy: "y",
};
const operatorOf = ({ verb }: Command) => OPERATOR[verb] ?? verb;

function operatedRange(state: VimState, { command, selection }: Change): TextRange | undefined {
  if (selection) return selectedAgain(state.text, state.cursor, selection);
  return /^[dcy]$/.test(operatorOf(command)) ? operatorRange(state, command) : undefined;
}

const LINES = new Set(["dd", "cc", "yy", "Y", "S"]);
const SHORTHAND: Readonly<Record<string, string>> = { x: "l", s: "l", X: "h", D: "$", C: "$" };

function operatorRange(state: VimState, command: Command): TextRange | undefined {
  const { text, cursor } = state;
  const { verb, count = 1 } = command;
  if (LINES.has(verb)) {
    const row = rowOf(text, cursor);
    if (count > 1 && row === lastRow(text)) return;
    const last = Math.min(row + count - 1, lastRow(text));
    return { start: cursor, end: startOfRow(text, last), linewise: true };
  }
  if (command.object) {
    const { key, around } = command.object;
    const range = textObject(key)?.(text, cursor, around, count);
    return range && !range.linewise && verb === "d" && range.start === range.end ? undefined : range;
  }
  const shorthand = SHORTHAND[verb];
  const moved: Command = shorthand
    ? { verb: OPERATOR[verb] ?? verb, motion: { name: shorthand, argument: "", count: command.count } }
    : command;
  const motion = motionOf(state, moved);
  if (!motion) return;
  const range = motionRange(text, cursor, motion, moved.verb);
  const nothing = !range.linewise && range.start === range.end;
  return nothing && moved.verb !== "c" ? undefined : range;
}

export function operate(state: VimState, operator: string, range: TextRange, register?: string): VimState {
  const { text } = state;
  const registers = writeRegister(state.registers, register, taken(text, range), operator === "y");
  const normal = { ...state, registers, column: undefined, mode: "normal" as const };
  if (operator === "y") return { ...normal, cursor: onCharacter(text, range.start) };
  if (operator === "d") return { ...normal, ...remove(text, range) };
  return { ...normal, ...openForChange(text, range), mode: "insert" };
}

function putRegister(state: VimState, { verb, count = 1, register }: Command): VimState | undefined {
  const value = readRegister(state.registers, register);
  if (value.text === "" && !value.linewise) return;
  return { ...state, ...put(state.text, state.cursor, value, count, verb === "P") };
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

function repeat(state: VimState, count: number | undefined, { leaveInsert }: Insertion): VimState {
  const last = state.lastChange;
  if (!last) return state;
  const counted = count === undefined ? last.command : withCount(last.command, count);
  const begun = change(state, { ...last, command: counted });
  if (begun.mode !== "insert" || !begun.insert) return begun;
  let { text, cursor } = begun;
  for (const key of last.typed) ({ text, cursor } = insertKey({ text, cursor }, key) ?? { text, cursor });
  const insert = { ...begun.insert, change: { ...begun.insert.change, typed: last.typed } };
  return leaveInsert({ ...begun, text, cursor, insert });
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

export const upperCase = (text: string, start: number, end: number): string =>
  mapped(text, start, end, (c) => c.toUpperCase());

export const lowerCase = (text: string, start: number, end: number): string =>
  mapped(text, start, end, (c) => c.toLowerCase());
