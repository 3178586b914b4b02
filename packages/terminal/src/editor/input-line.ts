import { toOneLine } from "@octant/core";
import { type Line, span, truncate } from "../styled.ts";
import { searchIn } from "../vim/parse.ts";
import { PENDING_TIMEOUT_MS, type VimEffect } from "../vim/state.ts";
import { expirePending } from "../vim/vim.ts";
import {
  type Completer,
  type Completion,
  type CompletionTarget,
  completionTarget,
  type Menu,
  viewMenu,
} from "./completion.ts";
import {
  createEditor,
  type EditorState,
  editKey,
  expandedText,
  type InputMode,
  inserted,
  paste,
  withText,
} from "./editor.ts";
import { type EditorView, viewEditor } from "./editor-view.ts";
import type { History } from "./history.ts";

const MAX_ROWS = 10;

export type InputLineOptions = {
  mode: InputMode;
  history: History;
  complete: Completer;
  /** Called on a change without a key, such as completions that arrived. */
  onChange: () => void;
};

/** The effect of a key beyond editing: the text is to be sent, or a ":" command requests something. */
export type InputAction = { kind: "submit"; text: string } | Exclude<VimEffect, { kind: "submit" | "set" }>;

/** The person's input, with history, search and completion. */
export class InputLine {
  readonly #options: InputLineOptions;
  #editor: EditorState;
  #menu: Menu | undefined;
  #search: { words: string; index: number | undefined } | undefined;
  #historyAt: number | undefined;
  #draft = "";
  #timeout: NodeJS.Timeout | undefined;

  constructor(options: InputLineOptions) {
    this.#options = options;
    this.#editor = createEditor(options.mode);
  }

  get isEmpty(): boolean {
    return this.#editor.input.text === "";
  }

  /** The whole text, with chips replaced by their pasted text. */
  get text(): string {
    return expandedText(this.#editor);
  }

  set text(text: string) {
    this.#editor = withText({ ...this.#editor, pastes: [] }, text);
  }

  /** Empties the input for another text; the returned function restores the previous text and inserts what is left. */
  putAside(): () => void {
    const kept = this.#editor;
    this.text = "";
    return () => {
      const left = this.text;
      this.#editor = { ...kept, mode: this.#editor.mode };
      if (left !== "") this.insert(left);
    };
  }

  /** Whether Escape is used here before it stops the agent. */
  get wantsEscape(): boolean {
    const isTyping = this.#isVim && this.#editor.input.mode !== "normal";
    return this.#menu !== undefined || this.#search !== undefined || isTyping;
  }

  /** In vim's normal mode the key belongs to vim. */
  get wantsControlV(): boolean {
    return this.#isVim && this.#editor.input.mode !== "insert";
  }

  /** Whether a half-typed command takes every key. */
  get isMidCommand(): boolean {
    const { mode, pending } = this.#editor.input;
    const { isZapping = false } = this.#editor;
    return isZapping || this.#search !== undefined || mode === "command" || pending.length > 0;
  }

  /** Shown in the status line. */
  get modeName(): string | undefined {
    const { mode, commandLine, insert, pending } = this.#editor.input;
    if (!this.#isVim) return undefined;
    if (mode === "command") return `:${commandLine}`;
    const search = searchIn(pending);
    if (search !== undefined) return search;
    return insert?.change.command.verb === "R" ? "REPLACE" : mode.toUpperCase();
  }

  close(): void {
    clearTimeout(this.#timeout);
  }

  /** Inserts a text verbatim at the cursor. */
  insert(text: string): void {
    this.#editor = inserted(this.#editor, text);
    this.#historyAt = undefined;
  }

  paste(text: string): void {
    this.#editor = paste(this.#editor, text);
    this.#historyAt = undefined;
  }

  /** Escape and a character that arrive together look like Alt; Vim, which has no use for Alt, takes them for two keys. */
  keysOf(key: string): readonly string[] {
    const [, shift, character] = (this.#isVim && /^Alt-(Shift-)?(.)$/u.exec(key)) || [];
    return character ? ["Escape", shift ? character : character.toLowerCase()] : [key];
  }

  key(key: string): InputAction | undefined {
    if (this.#search) return this.#searchKey(key);
    if (!this.isMidCommand) {
      if (key === "Enter") return this.#enter();
      if (this.#specialKey(key)) return undefined;
    }
    return this.#editorKey(key);
  }

  view(width: number, hint: string): EditorView {
    if (!this.#search) return viewEditor(this.#editor, width, MAX_ROWS, hint);
    const { words, index } = this.#search;
    const found = index === undefined ? "" : `  ${toOneLine(this.#options.history.entries[index] ?? "")}`;
    const label = `search: ${words}`;
    const line = truncate([span(label, { role: "accent" }), span(found, { role: "muted" })], width);
    return { lines: [line], cursor: { row: 0, column: label.length } };
  }

  menuView(width: number): Line[] {
    return this.#menu ? viewMenu(this.#menu, width) : [];
  }

  get #isVim(): boolean {
    return this.#editor.mode === "vim";
  }

  /** Returns false when the editor should handle the key. */
  #specialKey(key: string): boolean {
    switch (key) {
      case "Ctrl-J":
        if (this.#isVim && this.#editor.input.mode !== "insert") return false;
        this.#editor = inserted(this.#editor, "\n");
        return true;
      case "Shift-Enter":
      case "Alt-Enter":
        this.#editor = inserted(this.#editor, "\n");
        return true;
      case "Escape":
        if (!this.#menu) return false;
        this.#menu = undefined;
        return true;
      case "Tab":
        if (this.#menu) this.#accept();
        else void this.#openMenu();
        return true;
      case "Up":
      case "Down":
        return this.#upDown(key);
      case "Ctrl-P":
        return this.#editor.mode === "emacs" && this.#upDown("Up");
      case "Ctrl-N":
        return this.#editor.mode === "emacs" && this.#upDown("Down");
      case "Ctrl-R":
        if (this.#isVim && this.#editor.input.mode === "normal") return false;
        this.#search = { words: "", index: undefined };
        return true;
      default:
        return false;
    }
  }

  #editorKey(key: string): InputAction | undefined {
    const { state, effect, handled } = editKey(this.#editor, key);
    this.#editor = state;
    if (handled) this.#historyAt = undefined;
    this.#awaitRest();
    if (state.input.mode === "insert") void this.#openMenu(true);
    else this.#menu = undefined;
    if (effect?.kind === "submit") return this.#submit();
    if (effect?.kind === "set") return this.#setOption(effect.option);
    return effect;
  }

  #awaitRest(): void {
    clearTimeout(this.#timeout);
    const { pending } = this.#editor.input;
    if (pending.length === 0 || searchIn(pending) !== undefined) return;
    this.#timeout = setTimeout(() => {
      this.#editor = { ...this.#editor, input: expirePending(this.#editor.input) };
      this.#options.onChange();
    }, PENDING_TIMEOUT_MS);
  }

  #setOption(option: string): InputAction | undefined {
    const mode = /^(?:input_mode=)?(default|emacs|vim)$/.exec(option)?.[1];
    if (!mode) {
      const text = `unknown option '${toOneLine(option)}'; there is input_mode=default|emacs|vim`;
      return { kind: "message", text };
    }
    // The pattern matches one of the three.
    this.#editor = {
      ...this.#editor,
      mode: mode as InputMode,
      input: { ...this.#editor.input, mode: "insert" },
    };
    return undefined;
  }

  #submit(): InputAction | undefined {
    const text = this.text.trim();
    if (text === "") return undefined;
    this.#options.history.add(text);
    this.text = "";
    this.#historyAt = undefined;
    this.#menu = undefined;
    return { kind: "submit", text };
  }

  #upDown(key: "Up" | "Down"): boolean {
    if (this.#menu) {
      const { items, chosen } = this.#menu;
      const by = key === "Up" ? -1 : 1;
      this.#menu = { ...this.#menu, chosen: (chosen + by + items.length) % items.length, isMoved: true };
      return true;
    }
    if (this.#isVim && this.#editor.input.mode !== "insert") return false;
    const { text, cursor } = this.#editor.input;
    const hasLineThere = (key === "Up" ? text.slice(0, cursor) : text.slice(cursor)).includes("\n");
    if (hasLineThere) return false;
    const { entries } = this.#options.history;
    const target = (this.#historyAt ?? entries.length) + (key === "Up" ? -1 : 1);
    if (target < 0 || target > entries.length) return true;
    if (this.#historyAt === undefined) this.#draft = text;
    this.#historyAt = target === entries.length ? undefined : target;
    this.#editor = withText(this.#editor, entries[target] ?? this.#draft);
    return true;
  }

  #searchKey(key: string): undefined {
    const search = this.#search;
    if (!search) return;
    const { history } = this.#options;
    if (key === "Escape" || key === "Ctrl-C" || key === "Ctrl-G") this.#search = undefined;
    else if (key === "Ctrl-R")
      this.#search = { ...search, index: history.find(search.words, search.index) ?? search.index };
    else if (key === "Enter" || key === "Tab" || key === "Right") {
      const found = search.index === undefined ? undefined : history.entries[search.index];
      if (found !== undefined) this.#editor = withText(this.#editor, found);
      this.#search = undefined;
    } else {
      const typed = [...key].length === 1 ? search.words + key : search.words;
      const words = key === "Backspace" ? search.words.slice(0, -1) : typed;
      this.#search = { words, index: words === "" ? undefined : history.find(words) };
    }
  }

  /** `quiet` opens the menu while typing; Tab accepts a single completion at once. */
  async #openMenu(quiet = false): Promise<void> {
    const { text, cursor } = this.#editor.input;
    const target = completionTarget(text, cursor);
    if (!target) {
      this.#menu = undefined;
      return;
    }
    const items = await this.#options.complete(target.word);
    if (this.#editor.input.text !== text || this.#editor.input.cursor !== cursor) return;
    const typed = items.findIndex(({ value }) => completed(text, cursor, target, value) === text);
    this.#menu = items.length === 0 ? undefined : { target, text, items, chosen: Math.max(typed, 0) };
    if (!quiet && items.length === 1) this.#accept();
    this.#options.onChange();
  }

  /** A completed command that needs nothing more is sent at once. */
  #enter(): InputAction | undefined {
    const item = this.#wantsChosen();
    if (!item) return this.#submit();
    this.#accept();
    return item.runs ? this.#submit() : undefined;
  }

  /**
   * The completion that Enter takes: none for a text that has nothing left to complete, that changed since the menu was
   * made, or of which the argument has not begun.
   */
  #wantsChosen(): Completion | undefined {
    const { text, cursor } = this.#editor.input;
    const item = this.#menu?.items[this.#menu.chosen];
    if (!this.#menu || !item || this.#menu.text !== text) return undefined;
    const { target, isMoved = false } = this.#menu;
    if (target.start === cursor && !isMoved) return undefined;
    return completed(text, cursor, target, item.value) === text ? undefined : item;
  }

  #accept(): undefined {
    const menu = this.#menu;
    const item = menu?.items[menu.chosen];
    this.#menu = undefined;
    if (!menu || !item) return;
    const { text, cursor } = this.#editor.input;
    const value = item.value.endsWith("/") ? item.value : `${item.value} `;
    const { target } = menu;
    const whole = completed(text, cursor, target, value);
    this.#editor = withText(this.#editor, whole, target.start + value.length);
  }
}

const completed = (text: string, cursor: number, { start }: CompletionTarget, value: string): string =>
  text.slice(0, start) + value + text.slice(cursor);
