import { put, readRegister, remove, taken, writeRegister } from "./operators.ts";
import type { Command } from "./parse.ts";
import type { VimState } from "./state.ts";
import { lineEnd, lineStart, onCharacter, previous } from "./text.ts";
import type { TextRange } from "./text-objects.ts";

/** p in visual mode swaps the selection with the register. */
export function replaceByRegister(
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

export function putRegister(state: VimState, { verb, count = 1, register }: Command): VimState | undefined {
  const value = readRegister(state.registers, register);
  if (value.text === "" && !value.linewise) return;
  return { ...state, ...put(state.text, state.cursor, value, count, verb === "P") };
}
