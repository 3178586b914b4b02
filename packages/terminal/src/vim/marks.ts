import type { Place, VimState } from "./state.ts";
import { lineEnd, onCharacter, rowOf, startOfRow } from "./text.ts";

const placeOf = (text: string, at: number): Place => {
  const row = rowOf(text, at);
  return { row, column: at - startOfRow(text, row) };
};

/** The offset of a place; a line that became shorter ends before it. */
export function offsetOf(text: string, { row, column }: Place): number {
  const start = startOfRow(text, row);
  return onCharacter(text, Math.min(start + column, lineEnd(text, start)));
}

export const withMark = (state: VimState, name: string, at: number): VimState => ({
  ...state,
  marks: { ...state.marks, [name]: placeOf(state.text, at) },
});

/** Moves the marks below lines that were added or removed; those in removed lines are lost. */
export function moveMarks(before: VimState, after: VimState): VimState {
  if (before.text === after.text || Object.keys(after.marks).length === 0) return after;
  const [from, to] = [before.text.split("\n"), after.text.split("\n")];
  if (from.length === to.length) return after;
  const { first: found, removed, added } = changedRows(from, to);
  const row = rowOf(after.text, after.cursor);
  let first = found;
  // Among equal lines, the new one is that of the cursor.
  while (removed === 0 && first > row && to[first - 1] === to[first - 1 + added]) first--;
  const marks = Object.entries(after.marks).flatMap(([name, place]): [string, Place][] => {
    if (place.row < first + Math.min(removed, added)) return [[name, place]];
    if (place.row < first + removed) return name === "'" ? [[name, { row: first, column: 0 }]] : [];
    return [[name, { ...place, row: place.row + added - removed }]];
  });
  return { ...after, marks: Object.fromEntries(marks) };
}

/** The first row that differs, and how many rows were replaced by how many. */
export function changedRows(from: readonly string[], to: readonly string[]) {
  let first = 0;
  while (first < from.length && first < to.length && from[first] === to[first]) first++;
  let same = 0;
  const most = Math.min(from.length, to.length) - first;
  while (same < most && from[from.length - 1 - same] === to[to.length - 1 - same]) same++;
  return { first, removed: from.length - same - first, added: to.length - same - first };
}
