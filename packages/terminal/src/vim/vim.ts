import { runCommandLine } from "./command-line.ts";
import { insertKey, MOVES_IN_INSERT } from "./insert.ts";
import { runNormal } from "./normal.ts";
import { isCharacter, parseNormal, parseVisual } from "./parse.ts";
import type { VimResult, VimState } from "./state.ts";
import { lineEnd, lineStart, onCharacter, previous } from "./text.ts";
import { remember } from "./undo.ts";
import { runVisual } from "./visual.ts";

/**
 * Handles one key of the input: a typed character, or a named key ("Escape", "Enter", "Backspace", "Ctrl-R", "Left").
 * Pure: the caller keeps the state, draws it and carries out the effect.
 */
export function pressKey(state: VimState, key: string): VimResult {
  switch (state.mode) {
    case "insert":
      return { state: insertMode(state, key) };
    case "command":
      return commandMode(state, key);
    default:
      return commandKeys(state, key);
  }
}

/** Drops a half-typed command; call it PENDING_TIMEOUT_MS after the last key. */
export const expirePending = (state: VimState): VimState => ({ ...state, pending: [] });

function commandKeys(state: VimState, key: string): VimResult {
  const visual = state.mode !== "normal";
  if (key === "Escape" && (state.pending.length > 0 || !visual)) return { state: expirePending(state) };
  const keys = [...state.pending, key];
  const parsed = visual ? parseVisual(keys) : parseNormal(keys);
  if (parsed.status === "incomplete") return { state: { ...state, pending: keys } };
  const ready = expirePending(state);
  if (parsed.status === "invalid") return { state: ready };
  const run = visual ? runVisual : runNormal;
  return { state: run(ready, parsed.command, { leaveInsert }) };
}

function insertMode(state: VimState, key: string): VimState {
  if (key === "Escape" || key === "Ctrl-C") return leaveInsert(state);
  const typed = insertKey(state, key);
  if (!typed) return state;
  const session = state.insert ?? {
    before: { text: state.text, cursor: state.cursor },
    change: { command: { verb: "i" }, typed: [] },
    times: 1,
  };
  if (MOVES_IN_INSERT.has(key)) {
    const moved = state.text === session.before.text ? state : remember(state, session.before);
    return {
      ...moved,
      cursor: typed.cursor,
      insert: { before: { ...typed }, change: { command: { verb: "i" }, typed: [] }, times: 1 },
    };
  }
  const change = { ...session.change, typed: [...session.change.typed, key] };
  return { ...state, ...typed, insert: { ...session, change } };
}

/** Ends insert mode: repeats the typed text by its count, and makes it one undo step. */
function leaveInsert(state: VimState): VimState {
  const session = state.insert;
  let { text, cursor } = state;
  for (let i = 1; session && i < session.times; i++) {
    if (session.change.command.verb === "o" || session.change.command.verb === "O") {
      cursor = lineEnd(text, cursor);
      text = `${text.slice(0, cursor)}\n${text.slice(cursor)}`;
      cursor++;
    }
    for (const key of session.change.typed)
      ({ text, cursor } = insertKey({ text, cursor }, key) ?? { text, cursor });
  }
  const at = cursor > lineStart(text, cursor) ? previous(text, cursor) : cursor;
  const left: VimState = {
    ...state,
    text,
    cursor: onCharacter(text, at),
    mode: "normal",
    column: undefined,
    insert: undefined,
  };
  if (!session) return left;
  const remembered = text === session.before.text ? left : remember(left, session.before);
  return { ...remembered, lastChange: session.change };
}

function commandMode(state: VimState, key: string): VimResult {
  const leave: VimState = { ...state, mode: "normal", commandLine: "" };
  if (key === "Escape" || key === "Ctrl-C") return { state: leave };
  if (key === "Enter") return runCommandLine(leave, state.commandLine);
  if (key === "Backspace") {
    if (state.commandLine === "") return { state: leave };
    return {
      state: {
        ...state,
        commandLine: state.commandLine.slice(0, previous(state.commandLine, state.commandLine.length)),
      },
    };
  }
  return isCharacter(key) ? { state: { ...state, commandLine: state.commandLine + key } } : { state };
}
