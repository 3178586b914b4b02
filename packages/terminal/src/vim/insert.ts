import { isCharacter } from "./parse.ts";
import type { Snapshot } from "./state.ts";
import {
  atColumn,
  classAt,
  columnOf,
  isBlank,
  lastRow,
  lineEnd,
  lineStart,
  next,
  previous,
  rowOf,
  startOfRow,
} from "./text.ts";

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

/** Keys that move the cursor end the repeatable part of an insertion, as in Vim. */
export const MOVES_IN_INSERT: ReadonlySet<string> = new Set(["Left", "Right", "Up", "Down", "Home", "End"]);

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
