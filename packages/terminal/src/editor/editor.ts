import { insertKey } from "../vim/insert.ts";
import { createVimState, type Snapshot, type VimEffect, type VimState } from "../vim/state.ts";
import { classAt, lineEnd, lineStart, next, previous } from "../vim/text.ts";
import { remember } from "../vim/undo.ts";
import { pressKey } from "../vim/vim.ts";
import { emacsKey } from "./emacs.ts";

export type InputMode = "default" | "emacs" | "vim";

/** Text pasted in bulk, shown as a chip such as `[paste #1, 120 lines]`. */
export type Paste = { chip: string; text: string };

export type EditorState = {
  mode: InputMode;
  /** Text, cursor and undo history; outside of vim mode it is always in insert mode. */
  input: VimState;
  /** The killed texts, the last one first. */
  kills: readonly string[];
  /** Kills in a row become one text, and only a yank can be followed by Alt-Y. */
  previous?: "kill" | "yank" | undefined;
  pastes: readonly Paste[];
  /** In emacs mode: the numeric argument that is being typed, such as "-1". */
  argument?: string | undefined;
  /** In emacs mode: Alt-Z waits for the character to delete up to. */
  isZapping?: boolean;
};

export type EditorResult = { state: EditorState; effect?: VimEffect; handled: boolean };

const CHIP_MIN_CHARACTERS = 1000;
const CHIP_MIN_LINES = 12;
const MAX_KILLS = 30;

export const createEditor = (mode: InputMode, text = ""): EditorState => ({
  mode,
  input: createVimState(text),
  kills: [],
  pastes: [],
});

/** Handles one key. `handled` is false for a key that the editor does not use. */
export const editKey = (state: EditorState, key: string): EditorResult =>
  state.mode === "emacs"
    ? emacsKey(state, key, { press: pressKeyOnce, kill: killed })
    : pressKeyOnce(state, key);

function pressKeyOnce(state: EditorState, key: string): EditorResult {
  const isVim = state.mode === "vim";
  if (isVim && (state.input.mode !== "insert" || key === "Escape")) {
    const { state: input, effect } = pressKey(state.input, key);
    return { state: { ...state, input }, effect, handled: true };
  }
  const after = isVim && !key.startsWith("Alt-") ? undefined : readlineKey(state, key);
  if (after) return { state: after, handled: true };
  if (isVim) {
    const typed = pressKey(state.input, key);
    return { state: { ...state, input: typed.state }, handled: typed.state !== state.input };
  }
  const typed = insertKey(state.input, key);
  return { state: typed ? edited(state, typed) : state, handled: typed !== undefined };
}

/** A large paste becomes a chip; the pasted text is sent. */
export function paste(state: EditorState, text: string): EditorState {
  const clean = text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "");
  const lines = clean.split("\n").length;
  if (clean.length < CHIP_MIN_CHARACTERS && lines < CHIP_MIN_LINES) return inserted(state, clean);
  const chip = `[paste #${state.pastes.length + 1}, ${lines > 1 ? `${lines} lines` : `${clean.length} characters`}]`;
  return inserted({ ...state, pastes: [...state.pastes, { chip, text: clean }] }, chip);
}

/** The text with every chip replaced by its pasted text. */
export const expandedText = ({ input, pastes }: EditorState): string =>
  pastes.reduce((text, { chip, text: pasted }) => text.replace(chip, () => pasted), input.text);

export const withText = (state: EditorState, text: string, cursor = text.length): EditorState => ({
  ...state,
  input: {
    ...createVimState(text, cursor),
    registers: state.input.registers,
    lastChange: state.input.lastChange,
  },
});

export const inserted = (state: EditorState, added: string): EditorState => {
  const { text, cursor } = state.input;
  return edited(state, {
    text: text.slice(0, cursor) + added + text.slice(cursor),
    cursor: cursor + added.length,
  });
};

function edited(state: EditorState, { text, cursor }: Snapshot): EditorState {
  const before = { text: state.input.text, cursor: state.input.cursor };
  const input = { ...state.input, text, cursor, column: undefined };
  return { ...state, previous: undefined, input: text === before.text ? input : remember(input, before) };
}

type Target = (text: string, cursor: number) => number;

const isWord = (text: string, at: number): boolean => classAt(text, at, false) === "word";
const isNonBlank = (text: string, at: number): boolean => classAt(text, at, true) !== "blank";

function wordEnd(text: string, cursor: number): number {
  let at = cursor;
  while (at < text.length && !isWord(text, at)) at = next(text, at);
  while (at < text.length && isWord(text, at)) at = next(text, at);
  return at;
}

function wordStart(text: string, cursor: number, belongs = isWord): number {
  let at = cursor;
  while (at > 0 && !belongs(text, previous(text, at))) at = previous(text, at);
  while (at > 0 && belongs(text, previous(text, at))) at = previous(text, at);
  return at;
}

/** The readline keys shared by "default" and "emacs"; vim's insert mode has its own. */
const MOVES: Readonly<Record<string, Target>> = {
  "Ctrl-A": lineStart,
  "Ctrl-E": lineEnd,
  "Ctrl-B": previous,
  "Ctrl-F": next,
  "Alt-B": (text, cursor) => wordStart(text, cursor),
  "Alt-Left": (text, cursor) => wordStart(text, cursor),
  "Ctrl-Left": (text, cursor) => wordStart(text, cursor),
  "Alt-<": () => 0,
  "Alt->": (text) => text.length,
  "Alt-F": wordEnd,
  "Alt-Right": wordEnd,
  "Ctrl-Right": wordEnd,
};

/** The text between the cursor and there is removed, and can be yanked. */
const KILLS: Readonly<Record<string, Target>> = {
  "Ctrl-K": (text, cursor) => Math.max(lineEnd(text, cursor), next(text, cursor)),
  "Ctrl-U": lineStart,
  "Ctrl-W": (text, cursor) => wordStart(text, cursor, isNonBlank),
  "Alt-Backspace": (text, cursor) => wordStart(text, cursor),
  "Ctrl-Backspace": (text, cursor) => wordStart(text, cursor),
  "Alt-D": wordEnd,
};

const EDITS: Readonly<Record<string, (input: Snapshot) => Snapshot>> = {
  "Ctrl-H": ({ text, cursor }) => without(text, previous(text, cursor), cursor),
  "Ctrl-D": ({ text, cursor }) => without(text, cursor, next(text, cursor)),
  "Ctrl-T": transposed,
  "Alt-T": transposedWords,
  "Alt-\\": ({ text, cursor }) => {
    const blanksAfter = /^[ \t]*/.exec(text.slice(cursor))?.[0].length ?? 0;
    return without(text, text.slice(0, cursor).replace(/[ \t]+$/, "").length, cursor + blanksAfter);
  },
  "Alt-U": (input) => recased(input, (word) => word.toUpperCase()),
  "Alt-L": (input) => recased(input, (word) => word.toLowerCase()),
  "Alt-C": (input) =>
    recased(input, (word) => word.toLowerCase().replace(/[\p{L}\p{N}]/u, (first) => first.toUpperCase())),
};

/** Returns undefined for a key that readline does not use. */
function readlineKey(state: EditorState, key: string): EditorState | undefined {
  const { input } = state;
  const { text, cursor } = input;
  const move = MOVES[key];
  if (move) return edited(state, { text, cursor: move(text, cursor) });
  const kill = KILLS[key];
  if (kill) return killed(state, kill(text, cursor));
  const edit = EDITS[key];
  if (edit) return edited(state, edit(input));
  switch (key) {
    case "Ctrl-Y":
      return { ...inserted(state, state.kills[0] ?? ""), previous: "yank" };
    case "Alt-Y":
      return yankedBefore(state);
    case "Ctrl--":
    case "Ctrl-_":
    case "Ctrl-Z":
      return {
        ...state,
        previous: undefined,
        input: { ...input, ...input.undo.at(-1), undo: input.undo.slice(0, -1) },
      };
    default:
      return undefined;
  }
}

const without = (text: string, from: number, to: number): Snapshot => ({
  text: text.slice(0, from) + text.slice(to),
  cursor: from,
});

function killed(state: EditorState, target: number): EditorState {
  const { text, cursor } = state.input;
  if (target === cursor) return { ...state, previous: undefined };
  const [from, to] = target < cursor ? [target, cursor] : [cursor, target];
  const [last = "", ...older] = state.kills;
  const killed = text.slice(from, to);
  const kills =
    state.previous === "kill"
      ? [from === cursor ? last + killed : killed + last, ...older]
      : [killed, ...state.kills].slice(0, MAX_KILLS);
  return { ...edited(state, without(text, from, to)), kills, previous: "kill" };
}

/** Replaces the text that was just yanked by the one that was killed before it. */
function yankedBefore(state: EditorState): EditorState {
  const [last = "", ...older] = state.kills;
  const { text, cursor } = state.input;
  if (state.previous !== "yank" || older.length === 0) return { ...state, previous: undefined };
  const removed = edited(state, without(text, cursor - last.length, cursor));
  return { ...inserted(removed, older[0] ?? ""), kills: [...older, last], previous: "yank" };
}

/** Changes the rest of the word, and moves behind it. */
function recased({ text, cursor }: Snapshot, change: (word: string) => string): Snapshot {
  const end = wordEnd(text, cursor);
  const changed = text.slice(0, cursor) + change(text.slice(cursor, end));
  return { text: changed + text.slice(end), cursor: changed.length };
}

function transposed(input: Snapshot): Snapshot {
  const { text, cursor } = input;
  const second = cursor === lineEnd(text, cursor) ? previous(text, cursor) : cursor;
  const first = previous(text, second);
  if (first === second || second >= text.length || text[first] === "\n") return input;
  return swapped(text, [first, second], [second, next(text, second)]);
}

/** Moves the word before the cursor behind the next one; at the end, the last two change places. */
function transposedWords(input: Snapshot): Snapshot {
  const { text, cursor } = input;
  const end = wordEnd(text, cursor);
  const start = wordStart(text, end);
  const first = wordStart(text, start);
  const firstEnd = wordEnd(text, first);
  return firstEnd > start ? input : swapped(text, [first, firstEnd], [start, end]);
}

function swapped(text: string, one: readonly [number, number], other: readonly [number, number]): Snapshot {
  const between = text.slice(one[1], other[0]);
  const changed = text.slice(0, one[0]) + text.slice(...other) + between + text.slice(...one);
  return { text: changed + text.slice(other[1]), cursor: changed.length };
}
