import type { Snapshot, VimState } from "./state.ts";
import { firstNonBlank, onCharacter, rowOf, startOfRow } from "./text.ts";

const MAX_UNDO_STEPS = 1000;

/** Remembers the state before a change. */
export function remember(state: VimState, before: Snapshot): VimState {
  return { ...state, undo: [...state.undo, before].slice(-MAX_UNDO_STEPS), redo: [] };
}

export function undo(state: VimState, count: number): VimState {
  let current = state;
  for (let i = 0; i < count; i++) {
    const before = current.undo.at(-1);
    if (!before) break;
    const redo = [...current.redo, { text: current.text, cursor: before.cursor }];
    const cursor = restoredCursor(current.text, before.text, before.cursor, before.text);
    current = { ...current, text: before.text, cursor, undo: current.undo.slice(0, -1), redo };
  }
  return { ...current, column: undefined };
}

export function redo(state: VimState, count: number): VimState {
  let current = state;
  for (let i = 0; i < count; i++) {
    const again = current.redo.at(-1);
    if (!again) break;
    const undone = [...current.undo, { text: current.text, cursor: again.cursor }];
    const cursor = restoredCursor(current.text, again.text, again.cursor, current.text);
    current = { ...current, text: again.text, cursor, redo: current.redo.slice(0, -1), undo: undone };
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
  const { first, size } = changedRows(from.split("\n"), to.split("\n"));
  const near = savedRow >= first - 1 && savedRow <= first + size;
  if (near) return atPlace(to, savedRow, savedColumn);
  return onCharacter(to, firstNonBlank(to, startOfRow(to, first)));
}

function atPlace(text: string, row: number, column: number): number {
  const start = startOfRow(text, row);
  const line = text.slice(start).split("\n", 1)[0] ?? "";
  return onCharacter(text, start + Math.min(column, line.length));
}

/** The first row that differs, and how many rows of `to` belong to the change. */
function changedRows(from: readonly string[], to: readonly string[]) {
  let first = 0;
  while (first < from.length && first < to.length && from[first] === to[first]) first++;
  let same = 0;
  const most = Math.min(from.length, to.length) - first;
  while (same < most && from[from.length - 1 - same] === to[to.length - 1 - same]) same++;
  return { first, size: to.length - same - first };
}
