import type { VimResult, VimState } from "./state.ts";
import { firstNonBlank, lastRow, onCharacter, startOfRow } from "./text.ts";

/** Runs the text typed after ":". */
export function runCommandLine(state: VimState, line: string): VimResult {
  const command = line.trim();
  if (command === "") return { state };
  if (/^\d+$/.test(command)) return { state: { ...state, cursor: toLine(state.text, Number(command)) } };
  if (command === "$") return { state: { ...state, cursor: toLine(state.text, Number.MAX_SAFE_INTEGER) } };
  if (/^(w|wq|x)$/.test(command)) return { state, effect: { kind: "submit" } };
  if (/^(q|q!|quit)$/.test(command)) return { state, effect: { kind: "quit" } };
  const option = /^set?\s+(\S+)$/.exec(command)?.[1];
  if (option) return { state, effect: { kind: "set", option } };
  const text = `unknown command ':${command}'; there are :w (send), :q (quit), :set OPTION and :NUMBER (go to line)`;
  return { state, effect: { kind: "message", text } };
}

function toLine(text: string, line: number): number {
  const row = Math.min(Math.max(line, 1) - 1, lastRow(text));
  return onCharacter(text, firstNonBlank(text, startOfRow(text, row)));
}
