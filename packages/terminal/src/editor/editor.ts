import { insertKey } from "../vim/insert.ts";
import { createVimState, type VimEffect, type VimState } from "../vim/state.ts";
import { classAt, lineEnd, lineStart, next, previous } from "../vim/text.ts";
import { remember, undo } from "../vim/undo.ts";
import { pressKey } from "../vim/vim.ts";

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
};

export type EditorResult = { state: EditorState; effect?: VimEffect; handled: boolean };

const CHIP_MIN_CHARACTERS = 1000;
const CHIP_MIN_LINES = 12;
const MAX_KILLS = 30;
const YANKS = new Set(["Ctrl-Y", "Alt-Y"]);

export const createEditor = (mode: InputMode, text = ""): EditorState => ({
  mode,
  input: createVimState(text),
  kills: [],
  pastes: [],
});

/** Handles one key. `handled` is false for a key that the editor does not use. */
export function editKey(state: EditorState, key: string): EditorResult {
  if (state.mode === "vim" && (state.input.mode !== "insert" || key === "Escape")) {
    const { state: input, effect } = pressKey(state.input, key);
    return { state: { ...state, input }, effect, handled: true };
  }
  const command = BINDINGS[key];
  if (command && (state.mode !== "vim" || key.startsWith("Alt-"))) {
    const after = command(state);
    const previous = after.kills !== state.kills ? (YANKS.has(key) ? "yank" : "kill") : undefined;
    return { state: { ...after, previous: key === "Ctrl-Y" ? "yank" : previous }, handled: true };
  }
  if (state.mode === "vim") {
    const typed = pressKey(state.input, key);
    return { state: { ...state, input: typed.state }, handled: typed.state !== state.input };
  }
  const typed = insertKey(state.input, key);
  if (!typed) return { state, handled: false };
  return { state: { ...edited(state, typed.text, typed.cursor), previous: undefined }, handled: true };
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

export const inserted = (state: EditorState, text: string): EditorState => {
  const { text: all, cursor } = state.input;
  return edited(state, all.slice(0, cursor) + text + all.slice(cursor), cursor + text.length);
};

function edited(state: EditorState, text: string, cursor: number): EditorState {
  const before = { text: state.input.text, cursor: state.input.cursor };
  const input = { ...state.input, text, cursor, column: undefined };
  return { ...state, input: text === before.text ? input : remember(input, before) };
}

const moved = (state: EditorState, cursor: number): EditorState => ({
  ...state,
  input: { ...state.input, cursor, column: undefined },
});

function killed(state: EditorState, from: number, to: number): EditorState {
  const { text } = state.input;
  if (from === to) return state;
  const [last = "", ...older] = state.kills;
  const killed = text.slice(from, to);
  const isForward = from === state.input.cursor;
  const kills =
    state.previous === "kill"
      ? [isForward ? last + killed : killed + last, ...older]
      : [killed, ...state.kills].slice(0, MAX_KILLS);
  return { ...edited(state, text.slice(0, from) + text.slice(to), from), kills };
}

/** Replaces the text that was just yanked by the one that was killed before it. */
function yankedBefore(state: EditorState): EditorState {
  const [last = "", ...older] = state.kills;
  if (state.previous !== "yank" || older.length === 0) return state;
  const { text, cursor } = state.input;
  const start = cursor - last.length;
  const without = edited(state, text.slice(0, start) + text.slice(cursor), start);
  return { ...inserted(without, older[0] ?? ""), kills: [...older, last] };
}

/** Changes the rest of the word, and moves behind it. */
function recased(state: EditorState, change: (word: string) => string): EditorState {
  const { text, cursor } = state.input;
  const end = wordEnd(state.input);
  const changed = change(text.slice(cursor, end));
  return edited(state, text.slice(0, cursor) + changed + text.slice(end), cursor + changed.length);
}

const capitalised = (word: string): string =>
  word.toLowerCase().replace(/[\p{L}\p{N}]/u, (first) => first.toUpperCase());

/** The readline keys shared by "default" and "emacs"; vim's insert mode has its own. */
const BINDINGS: Readonly<Record<string, (state: EditorState) => EditorState>> = {
  "Ctrl-A": (state) => moved(state, lineStart(state.input.text, state.input.cursor)),
  "Ctrl-E": (state) => moved(state, lineEnd(state.input.text, state.input.cursor)),
  "Ctrl-B": (state) => moved(state, previous(state.input.text, state.input.cursor)),
  "Ctrl-F": (state) => moved(state, next(state.input.text, state.input.cursor)),
  "Ctrl-K": (state) => {
    const { text, cursor } = state.input;
    const end = lineEnd(text, cursor);
    return killed(state, cursor, end === cursor ? next(text, cursor) : end);
  },
  "Ctrl-U": (state) => killed(state, lineStart(state.input.text, state.input.cursor), state.input.cursor),
  "Ctrl-W": (state) => killed(state, blankWordStart(state.input), state.input.cursor),
  "Alt-Backspace": (state) => killed(state, wordStart(state.input), state.input.cursor),
  "Ctrl-Backspace": (state) => killed(state, wordStart(state.input), state.input.cursor),
  "Alt-D": (state) => killed(state, state.input.cursor, wordEnd(state.input)),
  "Alt-B": (state) => moved(state, wordStart(state.input)),
  "Alt-F": (state) => moved(state, wordEnd(state.input)),
  "Ctrl-Left": (state) => moved(state, wordStart(state.input)),
  "Ctrl-Right": (state) => moved(state, wordEnd(state.input)),
  "Alt-Left": (state) => moved(state, wordStart(state.input)),
  "Alt-Right": (state) => moved(state, wordEnd(state.input)),
  "Ctrl-Y": (state) => inserted(state, state.kills[0] ?? ""),
  "Alt-Y": yankedBefore,
  "Alt-U": (state) => recased(state, (word) => word.toUpperCase()),
  "Alt-L": (state) => recased(state, (word) => word.toLowerCase()),
  "Alt-C": (state) => recased(state, capitalised),
  "Ctrl-T": transposed,
  "Ctrl-H": (state) => killedQuietly(state, previous(state.input.text, state.input.cursor)),
  "Ctrl-D": (state) => {
    const { text, cursor } = state.input;
    return edited(state, text.slice(0, cursor) + text.slice(next(text, cursor)), cursor);
  },
  "Ctrl--": undone,
  "Ctrl-_": undone,
  "Ctrl-Z": undone,
};

function undone(state: EditorState): EditorState {
  return { ...state, input: { ...undo(state.input, 1), mode: "insert" } };
}

const killedQuietly = (state: EditorState, from: number): EditorState => {
  const { text, cursor } = state.input;
  return edited(state, text.slice(0, from) + text.slice(cursor), from);
};

function transposed(state: EditorState): EditorState {
  const { text, cursor } = state.input;
  const second = cursor === lineEnd(text, cursor) ? previous(text, cursor) : cursor;
  const first = previous(text, second);
  if (first === second || second >= text.length || text[first] === "\n") return state;
  const end = next(text, second);
  return edited(
    state,
    text.slice(0, first) + text.slice(second, end) + text.slice(first, second) + text.slice(end),
    end,
  );
}

function wordStart({ text, cursor }: VimState): number {
  let at = cursor;
  while (at > 0 && classAt(text, previous(text, at), false) !== "word") at = previous(text, at);
  while (at > 0 && classAt(text, previous(text, at), false) === "word") at = previous(text, at);
  return at;
}

function wordEnd({ text, cursor }: VimState): number {
  let at = cursor;
  while (at < text.length && classAt(text, at, false) !== "word") at = next(text, at);
  while (at < text.length && classAt(text, at, false) === "word") at = next(text, at);
  return at;
}

/** Ctrl-W deletes back to the last white space. */
function blankWordStart({ text, cursor }: VimState): number {
  let at = cursor;
  while (at > 0 && classAt(text, previous(text, at), true) === "blank") at = previous(text, at);
  while (at > 0 && classAt(text, previous(text, at), true) !== "blank") at = previous(text, at);
  return at;
}
