import { insertMode } from "./insert.ts";
import { moveMarks } from "./marks.ts";
import { runNormal } from "./normal.ts";
import { isCharacter, parseKeys } from "./parse.ts";
import type { VimResult, VimState } from "./state.ts";
import { firstNonBlank, lastRow, onCharacter, previous, startOfRow } from "./text.ts";
import { runVisual } from "./visual.ts";

/**
 * Handles one key of the input: a typed character, or a named key ("Escape", "Enter", "Backspace", "Ctrl-R", "Left").
 * Pure: the caller keeps the state, draws it and carries out the effect.
 */
export function pressKey(state: VimState, key: string): VimResult {
  const { state: after, ...rest } = handleKey(state, key);
  return { state: moveMarks(state, after), ...rest };
}

function handleKey(state: VimState, key: string): VimResult {
  if (state.mode === "insert") return { state: insertMode(state, key) };
  return state.mode === "command" ? commandMode(state, key) : { state: commandKeys(state, key) };
}

/** Drops a half-typed command; call it PENDING_TIMEOUT_MS after the last key. */
export const expirePending = (state: VimState): VimState => ({ ...state, pending: [] });

function commandKeys(state: VimState, key: string): VimState {
  const isVisual = state.mode !== "normal";
  const ready = expirePending(state);
  if (key === "Escape" && (state.pending.length > 0 || !isVisual)) return ready;
  const keys = [...state.pending, key];
  const parsed = parseKeys(keys, isVisual);
  if (parsed.status === "incomplete") return { ...state, pending: keys };
  if (parsed.status === "invalid") return ready;
  return (isVisual ? runVisual : runNormal)(ready, parsed.command);
}

function commandMode(state: VimState, key: string): VimResult {
  const { commandLine } = state;
  const leave: VimState = { ...state, mode: "normal", commandLine: "" };
  if (key === "Escape" || key === "Ctrl-C") return { state: leave };
  if (key === "Enter") return runCommandLine(leave, commandLine.trim());
  if (key === "Backspace" && commandLine === "") return { state: leave };
  if (key === "Backspace")
    return {
      state: { ...state, commandLine: commandLine.slice(0, previous(commandLine, commandLine.length)) },
    };
  return { state: isCharacter(key) ? { ...state, commandLine: commandLine + key } : state };
}

/** Runs the text typed after ":". */
function runCommandLine(state: VimState, command: string): VimResult {
  if (command === "") return { state };
  if (/^(\d+|\$)$/.test(command)) return { state: { ...state, cursor: toLine(state.text, command) } };
  if (/^(w|wq|x)$/.test(command)) return { state, effect: { kind: "submit" } };
  if (/^(q|q!|quit)$/.test(command)) return { state, effect: { kind: "quit" } };
  const option = /^set?\s+(\S+)$/.exec(command)?.[1];
  if (option) return { state, effect: { kind: "set", option } };
  const text = `unknown command ':${command}'; there are :w (send), :q (quit), :set OPTION and :NUMBER (go to line)`;
  return { state, effect: { kind: "message", text } };
}

function toLine(text: string, line: string): number {
  const row = line === "$" ? lastRow(text) : Math.min(Math.max(Number(line), 1) - 1, lastRow(text));
  return onCharacter(text, firstNonBlank(text, startOfRow(text, row)));
}
