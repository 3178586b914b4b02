import type { Find } from "./motions.ts";
import type { Registers } from "./operators.ts";
import type { Command } from "./parse.ts";
import type { Search } from "./search.ts";

export type VimMode = "insert" | "normal" | "visual" | "visual-line" | "command";

/** An incomplete command is dropped after this time. */
export const PENDING_TIMEOUT_MS = 500;

export type Snapshot = { text: string; cursor: number };

/** The shape of a visual selection, so that "." can repeat its command elsewhere. */
export type SelectionSize = { linewise: boolean; rows: number; columns: number };

/** The last change, which "." repeats. */
export type Change = { command: Command; typed: readonly string[]; selection?: SelectionSize };

export type InsertSession = {
  before: Snapshot;
  change: Change;
  /** How often the typed text is inserted in total. */
  times: number;
  /** In replace mode: the states before each key, which Backspace restores. */
  replaced?: readonly Snapshot[];
};

/** A place that later changes of lines move. The column counts UTF-16 units. */
export type Place = { row: number; column: number };

/** The input as Vim sees it. Offsets count UTF-16 units; lines end in "\n". */
export type VimState = {
  text: string;
  cursor: number;
  mode: VimMode;
  /** Keys of an incomplete command. */
  pending: readonly string[];
  /** Where a visual selection began. */
  anchor: number;
  /** The column that j and k return to. */
  column: number | undefined;
  registers: Registers;
  commandLine: string;
  lastSearch?: Search;
  /** By letter; "'" is the place before the last jump. */
  marks: Readonly<Record<string, Place>>;
  lastFind?: Find;
  lastChange?: Change;
  insert?: InsertSession;
  undo: readonly Snapshot[];
  redo: readonly Snapshot[];
};

/** Something for the owner of the input to do. */
export type VimEffect =
  | { kind: "submit" }
  | { kind: "quit" }
  | { kind: "set"; option: string }
  | { kind: "message"; text: string };

export type VimResult = { state: VimState; effect?: VimEffect };

export const createVimState = (text = "", cursor = text.length, mode: VimMode = "insert"): VimState => ({
  text,
  cursor,
  mode,
  pending: [],
  anchor: cursor,
  column: undefined,
  registers: {},
  commandLine: "",
  marks: { "'": { row: 0, column: 0 } },
  undo: [],
  redo: [],
});
