import { isCharacter } from "../vim/parse.ts";
import type { EditorResult, EditorState } from "./editor.ts";

/** A negative argument does the opposite. */
const OPPOSITES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ["Ctrl-F", "Ctrl-B"],
    ["Right", "Left"],
    ["Alt-F", "Alt-B"],
    ["Alt-D", "Alt-Backspace"],
    ["Ctrl-D", "Backspace"],
    ["Delete", "Ctrl-H"],
    ["Ctrl-K", "Ctrl-U"],
    ["Down", "Up"],
    ["Ctrl-N", "Ctrl-P"],
  ].flatMap(([one = "", other = ""]) => [
    [one, other],
    [other, one],
  ]),
);

const MAX_TIMES = 10_000;

interface EmacsParts {
  press(state: EditorState, key: string): EditorResult;
  /** Removes the text between the cursor and there. */
  kill(state: EditorState, target: number): EditorState;
}

/** Adds numeric arguments (Alt-5, Alt--) and Alt-Z, which deletes up to a character, to the other keys. */
export function emacsKey(state: EditorState, key: string, { press, kill }: EmacsParts): EditorResult {
  const { argument, isZapping } = state;
  const digit = (argument === undefined ? /^Alt-([0-9-])$/ : /^(?:Alt-)?([0-9]|-$)$/).exec(key)?.[1];
  if (digit !== undefined && !isZapping)
    return { state: { ...state, argument: (argument ?? "") + digit }, handled: true };
  const typed = argument === "-" ? -1 : Number(argument ?? 1);
  const count = Math.sign(typed) * Math.min(Math.abs(typed), MAX_TIMES);
  const ready: EditorState = { ...state, argument: undefined, isZapping: false };
  if (isZapping) return { state: isCharacter(key) ? zapped(ready, key, count, kill) : ready, handled: true };
  if (key === "Alt-Z") return { state: { ...state, isZapping: true }, handled: true };
  if (argument === undefined) return press(ready, key);
  let result: EditorResult = { state: ready, handled: true };
  const repeated = count < 0 ? (OPPOSITES[key] ?? key) : key;
  for (let i = 0; i < Math.abs(count); i++) result = press(result.state, repeated);
  return result;
}

/** Deletes up to and including the nth place of a character, which can be yanked. */
function zapped(state: EditorState, character: string, count: number, kill: EmacsParts["kill"]): EditorState {
  const { text, cursor } = state.input;
  let at = cursor;
  for (let i = 0; i < Math.abs(count); i++) {
    const found =
      count > 0 ? text.indexOf(character, at) : at === 0 ? -1 : text.lastIndexOf(character, at - 1);
    if (found === -1) return state;
    at = count > 0 ? found + character.length : found;
  }
  return kill(state, at);
}
