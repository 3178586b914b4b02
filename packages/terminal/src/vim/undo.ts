import { changedRows } from "./marks.ts";
import type { Snapshot, VimState } from "./state.ts";
import { firstNonBlank, onCharacter, rowOf, startOfRow } from "./text.ts";

const MAX_UNDO_STEPS = 1000;

/** Remembers the state before a change. */
export function remember(state: VimState, before: Snapshot): VimState {
  return { ...state, undo: [...state.undo, before].slice(-MAX_UNDO_STEPS), redo: [] };
}

export const undo = (state: VimState, count: number): VimState => restore(state, "undo", "redo", count);
export const redo = (state: VimState, count: number): VimState => restore(state, "redo", "undo", count);

function restore(state: VimState, from: "undo" | "redo", onto: "undo" | "redo", count: number): VimState {
  let current = state;
  for (let i = 0; i < count; i++) {
    const saved = current[from].at(-1);
    if (!saved) break;
    const before = from === "undo" ? saved.text : current.text;
    current = {
      ...current,
      text: saved.text,
      cursor: restoredCursor(current.text, saved.text, saved.cursor, before),
      [from]: current[from].slice(0, -1),
      [onto]: [...current[onto], { text: current.text, cursor: saved.cursor }],
    };
  }
  return { ...current, column: undefined };
}

/**
 * The cursor after undo or redo: where the change began if that is near the changed lines, otherwise the start of
 * the first changed line. `saved` is an offset in `savedText`.
 */
function restoredCursor(from: string, to: string, saved: number, savedText: string): number {
  const savedRow = rowOf(savedText, saved);
  const savedColumn = saved - startOfRow(savedText, savedRow);
  if (from === to) return atPlace(to, savedRow, savedColumn);
  const { first, added: size } = changedRows(from.split("\n"), to.split("\n"));
  const near = savedRow >= first - 1 && savedRow <= first + size;
  if (near) return atPlace(to, savedRow, savedColumn);
  return onCharacter(to, firstNonBlank(to, startOfRow(to, first)));
}

function atPlace(text: string, row: number, column: number): number {
  const start = startOfRow(text, row);
  const line = text.slice(start).split("\n", 1)[0] ?? "";
  return onCharacter(text, start + Math.min(column, line.length));
}
