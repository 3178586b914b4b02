import { isCharacter } from "./parse.ts";
import type { Change, InsertSession, Snapshot, VimState } from "./state.ts";
import {
  atColumn,
  classAt,
  columnOf,
  isBlank,
  lastRow,
  lineEnd,
  lineStart,
  next,
  onCharacter,
  previous,
  rowOf,
  startOfRow,
} from "./text.ts";
import { remember } from "./undo.ts";

/** Handles one key of insert mode. */
export function insertMode(state: VimState, key: string): VimState {
  if (key === "Escape" || key === "Ctrl-C") return leaveInsert(state);
  if (state.insert?.change.command.verb === "R" && !MOVES.has(key))
    return replaceMode(state, state.insert, key);
  const typed = insertKey(state, key);
  if (!typed) return state;
  const begin = (before: Snapshot) => ({ before, change: { command: { verb: "i" }, typed: [] }, times: 1 });
  const session = state.insert ?? begin({ text: state.text, cursor: state.cursor });
  // Keys that move the cursor end the repeatable part of an insertion, as in Vim.
  if (MOVES.has(key)) {
    const moved = state.text === session.before.text ? state : remember(state, session.before);
    return { ...moved, cursor: typed.cursor, insert: begin(typed) };
  }
  const change = { ...session.change, typed: [...session.change.typed, key] };
  return { ...state, ...typed, insert: { ...session, change } };
}

/** Typed characters replace those under the cursor, and Backspace restores them. */
function replaceMode(state: VimState, session: InsertSession, key: string): VimState {
  const { replaced = [], change } = session;
  const isBack = key === "Backspace" || key === "Ctrl-H";
  const now = { text: state.text, cursor: state.cursor };
  if (isBack) {
    const before = replaced.at(-1) ?? { ...now, cursor: previous(now.text, now.cursor) };
    const typed = change.typed.slice(0, -1);
    return {
      ...state,
      ...before,
      insert: { ...session, replaced: replaced.slice(0, -1), change: { ...change, typed } },
    };
  }
  const after = replaceKey(now, key);
  if (!after) return state;
  const typed = [...change.typed, key];
  return {
    ...state,
    ...after,
    insert: { ...session, replaced: [...replaced, now], change: { ...change, typed } },
  };
}

function replaceKey(from: Snapshot, key: string): Snapshot | undefined {
  const { text, cursor } = from;
  const isOver = key !== "Enter" && (key === "Tab" || isCharacter(key)) && cursor < lineEnd(text, cursor);
  return insertKey(
    isOver ? { text: text.slice(0, cursor) + text.slice(next(text, cursor)), cursor } : from,
    key,
  );
}

const MOVES: ReadonlySet<string> = new Set(["Left", "Right", "Up", "Down", "Home", "End"]);

/** Ends insert mode: repeats the typed text by its count, and makes it one undo step. */
export function leaveInsert(state: VimState): VimState {
  const session = state.insert;
  let { text, cursor } = state;
  for (let i = 1; session && i < session.times; i++) {
    if (session.change.command.verb === "o" || session.change.command.verb === "O") {
      cursor = lineEnd(text, cursor);
      text = `${text.slice(0, cursor)}\n${text.slice(cursor)}`;
      cursor++;
    }
    ({ text, cursor } = typeAgain({ text, cursor }, session.change));
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

export const typeAgain = (from: Snapshot, { command, typed }: Change): Snapshot => {
  const press = command.verb === "R" ? replaceKey : insertKey;
  return typed.reduce((now, key) => press(now, key) ?? now, from);
};

/** One key of insert mode. undefined for a key that insert mode does not know. */
export function insertKey({ text, cursor }: Snapshot, key: string): Snapshot | undefined {
  const typed = key === "Enter" ? "\n" : key === "Tab" ? "\t" : isCharacter(key) ? key : undefined;
  if (typed !== undefined) {
    return { text: text.slice(0, cursor) + typed + text.slice(cursor), cursor: cursor + typed.length };
  }
  const deletedFrom = deleteBack(text, cursor, key);
  if (deletedFrom !== undefined)
    return { text: text.slice(0, deletedFrom) + text.slice(cursor), cursor: deletedFrom };
  if (key === "Delete") return { text: text.slice(0, cursor) + text.slice(next(text, cursor)), cursor };
  const moved = moveKey(text, cursor, key);
  return moved === undefined ? undefined : { text, cursor: moved };
}

function deleteBack(text: string, cursor: number, key: string): number | undefined {
  if (key === "Backspace" || key === "Ctrl-H") return previous(text, cursor);
  if (key === "Ctrl-U")
    return cursor === lineStart(text, cursor) ? previous(text, cursor) : lineStart(text, cursor);
  if (key !== "Ctrl-W") return undefined;
  const start = lineStart(text, cursor);
  if (cursor === start) return previous(text, cursor);
  let at = cursor;
  while (at > start && isBlank(text[at - 1])) at--;
  if (at === start) return at;
  const kind = classAt(text, previous(text, at), false);
  while (at > start && classAt(text, previous(text, at), false) === kind) at = previous(text, at);
  return at;
}

function moveKey(text: string, cursor: number, key: string): number | undefined {
  if (key === "Left") return Math.max(previous(text, cursor), lineStart(text, cursor));
  if (key === "Right") return Math.min(next(text, cursor), lineEnd(text, cursor));
  if (key === "Home") return lineStart(text, cursor);
  if (key === "End") return lineEnd(text, cursor);
  if (key !== "Up" && key !== "Down") return undefined;
  const row = rowOf(text, cursor) + (key === "Up" ? -1 : 1);
  if (row < 0 || row > lastRow(text)) return cursor;
  return atColumn(text, startOfRow(text, row), columnOf(text, cursor));
}
