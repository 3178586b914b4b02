import type { Agent, AgentEvent } from "@octant/agent";
import { cacheHitRate, NO_USAGE } from "@octant/agent";
import { toOneLine } from "@octant/core";
import type { PermissionAnswer, PermissionPrompter, PermissionRequest } from "@octant/runtime";
import type { Device, TerminalInput } from "./device.ts";
import {
  type Completer,
  completionTarget,
  type Menu,
  moveChoice,
  openMenu,
  visibleItems,
} from "./editor/completion.ts";
import {
  createEditor,
  type EditorState,
  editKey,
  expandedText,
  type InputMode,
  inserted,
  paste,
  withText,
} from "./editor/editor.ts";
import { viewEditor } from "./editor/editor-view.ts";
import type { History } from "./editor/history.ts";
import { MdRenderer } from "./markdown/md-renderer.ts";
import type { Highlighter } from "./markdown/render-block.ts";
import type { Palette } from "./paint.ts";
import { type Live, Screen } from "./screen.ts";
import { type Line, span, truncate, wrap } from "./styled.ts";
import { choicesFor, viewPermission } from "./view/permission.ts";
import { type StatusFacts, viewStatus } from "./view/status.ts";
import { viewEvent } from "./view/transcript.ts";
import { expirePending, PENDING_TIMEOUT_MS } from "./vim/index.ts";

const FRAME_MS = 33;
const SPINNER = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
const SPINNER_MS = 100;
const MAX_EDITOR_ROWS = 10;
const MAX_PREVIEW_ROWS = 16;

/** What a command asks the application to do. */
export type CommandOutcome = { quit?: boolean; text?: string; send?: string } | undefined;

export type AppOptions = {
  device: Device;
  palette: Palette;
  agent: Agent;
  inputMode: InputMode;
  history: History;
  complete: Completer;
  /** Shown until the session has one. */
  model?: string;
  /** Runs a line that starts with "/". */
  command: (line: string) => Promise<CommandOutcome>;
  facts: () => Partial<StatusFacts>;
  highlight?: Highlighter;
  /** Opens the text in the person's editor and returns what was saved. */
  externalEditor?: (text: string) => Promise<string>;
  /** Shows the whole conversation in a pager. */
  pager?: () => Promise<void>;
  bell?: boolean;
};

type Asking = { request: PermissionRequest; answer: (answer: PermissionAnswer) => void; reason: boolean };
type RunningTool = { title: string; started: number; message?: string };

/** The agent in a terminal. `run` comes back when the person leaves. */
export class TerminalApp {
  readonly #options: AppOptions;
  readonly #screen: Screen;
  #editor: EditorState;
  #markdown: MdRenderer;
  #pending: Line[] = [];
  #endsInGap = true;
  #preview: readonly Line[] = [];
  #thinking = "";
  #tools = new Map<string, RunningTool>();
  #titles = new Map<string, string>();
  #previews = new Map<string, string>();
  #asking: Asking[] = [];
  #menu: Menu | undefined;
  #search: { words: string; index: number | undefined } | undefined;
  #historyAt: number | undefined;
  #draft = "";
  #note: string | undefined;
  #context: { used: number; size: number } | undefined;
  #usage = NO_USAGE;
  #cost = 0;
  #frame: NodeJS.Timeout | undefined;
  #spinner: NodeJS.Timeout | undefined;
  #vimTimeout: NodeJS.Timeout | undefined;
  #suspended = false;
  #leave: () => void = () => {};

  constructor(options: AppOptions) {
    this.#options = options;
    this.#screen = new Screen(options.device, options.palette);
    this.#editor = createEditor(options.inputMode);
    this.#markdown = this.#newMarkdown();
  }

  /** Asks the person at this terminal. */
  readonly prompter: PermissionPrompter = {
    requestPermission: (request) =>
      new Promise((resolve, reject) => {
        const asking: Asking = {
          request,
          reason: false,
          answer: (answer) => this.#answered(asking, () => resolve(answer)),
        };
        request.signal.addEventListener(
          "abort",
          () => this.#answered(asking, () => reject(request.signal.reason)),
          { once: true },
        );
        this.#asking.push(asking);
        if (this.#options.bell) this.#options.device.write("\x07");
        this.#render();
      }),
  };

  async run(greeting: readonly Line[], firstMessage?: string): Promise<void> {
    const { device, agent } = this.#options;
    const stopListening = agent.subscribe((event) => this.#onEvent(event));
    device.start(
      (input) => this.#onInput(input),
      () => this.#render(),
    );
    this.#append(greeting);
    this.#render();
    try {
      const left = new Promise<void>((resolve) => {
        this.#leave = resolve;
      });
      if (firstMessage) this.#send(firstMessage);
      await left;
    } finally {
      stopListening();
      clearTimeout(this.#frame);
      clearInterval(this.#spinner);
      clearTimeout(this.#vimTimeout);
      this.#flushPending();
      this.#screen.clear();
      // A late resize or event must not draw over the shell's prompt.
      this.#suspended = true;
      await device.stop();
    }
  }

  /** Leaves as if the person had asked for it, such as when the terminal goes away. */
  quit(): void {
    this.#leave();
  }

  /** Puts lines above the live region. */
  print(lines: readonly Line[]): void {
    this.#append(lines);
    this.#render();
  }

  // --- events of the agent ---

  #onEvent(event: AgentEvent): void {
    switch (event.type) {
      case "text_delta":
        this.#commitMarkdown(this.#markdown.renderChunk(event.text));
        break;
      case "thinking_delta":
        this.#thinking = (this.#thinking + event.text).slice(-400);
        break;
      case "message":
        this.#endText();
        this.#context = { used: event.context.used_tokens, size: event.context.size_tokens };
        this.#usage = event.usage;
        this.#cost += event.cost ?? 0;
        break;
      case "retry":
        this.#endText();
        this.#append([
          [
            span(`! ${toOneLine(event.reason)}; trying again in ${Math.ceil(event.delay_ms / 1000)} s`, {
              role: "warning",
            }),
          ],
        ]);
        break;
      case "tool_began":
        this.#titles.set(event.call_id, event.title);
        this.#tools.set(event.call_id, { title: event.title, started: Date.now() });
        break;
      case "tool_progress":
        this.#tools.set(event.call_id, {
          ...(this.#tools.get(event.call_id) ?? { title: "", started: Date.now() }),
          message: event.message ?? "",
        });
        break;
      case "permission_asked":
        if (event.preview) this.#previews.set(event.call_id, event.preview);
        break;
      case "tool_ended":
        this.#tools.delete(event.call_id);
        this.#append(
          viewEvent(this.#withDiff(event), (id) => this.#titles.get(id) ?? event.name, this.#width),
        );
        break;
      case "end":
        this.#endText();
        this.#append(viewEvent(event, () => "", this.#width));
        this.#gap();
        if (this.#options.bell) this.#options.device.write("\x07");
        break;
      default: {
        const lines = viewEvent(event, () => "", this.#width);
        if (event.type === "user") this.#gap();
        this.#append(lines);
        if (event.type === "user") this.#gap();
      }
    }
    this.#schedule();
  }

  /** What the person saw and allowed is what was done, where the tool itself does not show it. */
  #withDiff(event: Extract<AgentEvent, { type: "tool_ended" }>): typeof event {
    const diff = this.#previews.get(event.call_id);
    this.#previews.delete(event.call_id);
    if (diff === undefined || event.is_error || event.facts?.diff) return event;
    return { ...event, facts: { ...event.facts, diff } };
  }

  #commitMarkdown(lines: readonly Line[]): void {
    this.#thinking = "";
    this.#append(lines);
  }

  #endText(): void {
    const lines = this.#markdown.flush();
    this.#append(lines);
    if (lines.length > 0) this.#gap();
    this.#markdown = this.#newMarkdown();
    this.#thinking = "";
  }

  #append(lines: readonly Line[]): void {
    this.#pending.push(...lines);
    const last = lines.at(-1);
    if (last) this.#endsInGap = last.length === 0;
  }

  /** One empty line, unless there is one already. */
  #gap(): void {
    if (!this.#endsInGap) this.#append([[]]);
  }

  #newMarkdown(): MdRenderer {
    const { highlight } = this.#options;
    return new MdRenderer({ width: this.#width, ...(highlight && { highlight }) });
  }

  // --- keys ---

  #onInput(input: TerminalInput): void {
    if (this.#suspended) return;
    this.#note = undefined;
    if (input.kind === "paste") {
      this.#editor = paste(this.#editor, input.text);
      this.#historyAt = undefined;
    } else if (this.#asking[0] && !this.#asking[0].reason) this.#answerKey(this.#asking[0], input.key);
    else if (this.#search) this.#searchKey(input.key);
    else if (!this.#appKey(input.key)) this.#editorKey(input.key);
    this.#render();
  }

  /** Keys that belong to the application, not to the text. Returns false when the editor should have the key. */
  #appKey(key: string): boolean {
    const { agent } = this.#options;
    const { mode, pending } = this.#editor.input;
    if (mode === "command" || pending.length > 0) return false;
    const empty = this.#editor.input.text === "";
    switch (key) {
      case "Enter":
        return this.#menu ? this.#accept() : this.#submit();
      case "Shift-Enter":
      case "Alt-Enter":
      case "Ctrl-J":
        this.#editor = inserted(this.#editor, "\n");
        return true;
      case "Ctrl-C":
        return this.#interrupt(empty);
      case "Ctrl-D":
        if (!empty) return false;
        this.#leave();
        return true;
      case "Escape":
        if (this.#menu) this.#menu = undefined;
        else if (this.#editor.mode === "vim" && this.#editor.input.mode !== "normal") return false;
        else if (agent.isRunning) void agent.cancel();
        else return false;
        return true;
      case "Tab":
        if (this.#menu) return this.#accept();
        void this.#openMenu();
        return true;
      case "Up":
      case "Down":
        return this.#upDown(key);
      case "Ctrl-P":
        return this.#editor.mode === "emacs" ? this.#upDown("Up") : false;
      case "Ctrl-N":
        return this.#editor.mode === "emacs" ? this.#upDown("Down") : false;
      case "Ctrl-R":
        if (this.#editor.mode === "vim" && this.#editor.input.mode === "normal") return false;
        this.#search = { words: "", index: undefined };
        return true;
      case "Ctrl-G":
        void this.#suspend(async () => {
          const text = await this.#options.externalEditor?.(expandedText(this.#editor));
          if (text !== undefined)
            this.#editor = withText({ ...this.#editor, pastes: [] }, text.replace(/\n$/, ""));
        });
        return true;
      case "Ctrl-O":
        void this.#suspend(async () => this.#options.pager?.());
        return true;
      case "Ctrl-L":
        return true;
      default:
        return false;
    }
  }

  #editorKey(key: string): void {
    const { state, effect, handled } = editKey(this.#editor, key);
    this.#editor = state;
    if (handled) this.#historyAt = undefined;
    clearTimeout(this.#vimTimeout);
    if (state.input.pending.length > 0) {
      this.#vimTimeout = setTimeout(() => {
        this.#editor = { ...this.#editor, input: expirePending(this.#editor.input) };
        this.#render();
      }, PENDING_TIMEOUT_MS);
    }
    if (effect?.kind === "submit") this.#submit();
    if (effect?.kind === "quit") this.#leave();
    if (effect?.kind === "message") this.#note = effect.text;
    if (effect?.kind === "set") this.#setOption(effect.option);
    if (this.#editor.input.mode === "insert") void this.#openMenu(true);
    else this.#menu = undefined;
  }

  #setOption(option: string): void {
    const mode = /^(?:input_mode=)?(default|emacs|vim)$/.exec(option)?.[1];
    if (mode)
      this.#editor = {
        ...this.#editor,
        mode: mode as InputMode,
        input: { ...this.#editor.input, mode: "insert" },
      };
    else this.#note = `unknown option '${toOneLine(option)}'; there is input_mode=default|emacs|vim`;
  }

  /** Ctrl-C stops the work, then clears the text, then leaves. */
  #interrupt(empty: boolean): boolean {
    const { agent } = this.#options;
    if (agent.isRunning) void agent.cancel();
    else if (!empty) this.#editor = withText({ ...this.#editor, pastes: [] }, "");
    else this.#leave();
    return true;
  }

  #submit(): boolean {
    const text = expandedText(this.#editor).trim();
    if (text === "") return true;
    this.#options.history.add(text);
    this.#editor = withText({ ...this.#editor, pastes: [] }, "");
    this.#historyAt = undefined;
    this.#menu = undefined;
    const [asking] = this.#asking;
    if (asking?.reason) asking.answer({ answer: "deny", reason: text });
    else if (text.startsWith("/")) void this.#command(text);
    else this.#send(text);
    return true;
  }

  #send(text: string): void {
    const { agent } = this.#options;
    if (agent.isRunning) {
      agent.queue(text);
      this.#note = "queued: it is delivered at the next step";
      return;
    }
    this.#markdown = this.#newMarkdown();
    agent.send(text).catch((error: unknown) => this.#failed(error));
  }

  async #command(line: string): Promise<void> {
    try {
      const outcome = await this.#options.command(line);
      if (outcome?.text) this.#showText(outcome.text);
      if (outcome?.send) this.#send(outcome.send);
      if (outcome?.quit) this.#leave();
    } catch (error) {
      this.#failed(error);
    }
    this.#render();
  }

  #showText(text: string): void {
    const renderer = this.#newMarkdown();
    this.#append([...renderer.renderChunk(text), ...renderer.flush(), []]);
  }

  #failed(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.#append(wrap([span(`✗ ${toOneLine(text)}`, { role: "error" })], this.#width));
    this.#render();
  }

  #answerKey(asking: Asking, key: string): void {
    const choice = choicesFor(asking.request).find((one) => one.key === key.toLowerCase());
    if (key === "Escape" || key === "Ctrl-C") void this.#options.agent.cancel();
    if (!choice) return;
    if (choice.answer === "reason") asking.reason = true;
    else if (choice.answer === "deny") asking.answer({ answer: "deny" });
    else if (choice.answer !== "unattended") asking.answer({ answer: choice.answer });
  }

  #answered(asking: Asking, then: () => void): void {
    if (!this.#asking.includes(asking)) return;
    this.#asking = this.#asking.filter((one) => one !== asking);
    then();
    this.#render();
  }

  // --- history and completion ---

  #upDown(key: "Up" | "Down"): boolean {
    if (this.#menu) {
      this.#menu = moveChoice(this.#menu, key === "Up" ? -1 : 1);
      return true;
    }
    if (this.#editor.mode === "vim" && this.#editor.input.mode !== "insert") return false;
    const { text, cursor } = this.#editor.input;
    const edge = key === "Up" ? !text.slice(0, cursor).includes("\n") : !text.slice(cursor).includes("\n");
    if (!edge) return false;
    const { entries } = this.#options.history;
    const at = this.#historyAt ?? entries.length;
    const target = at + (key === "Up" ? -1 : 1);
    if (target < 0 || target > entries.length) return true;
    if (this.#historyAt === undefined) this.#draft = text;
    this.#historyAt = target === entries.length ? undefined : target;
    this.#editor = withText(this.#editor, entries[target] ?? this.#draft);
    return true;
  }

  #searchKey(key: string): void {
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
      const words =
        key === "Backspace"
          ? search.words.slice(0, -1)
          : key.length === 1
            ? search.words + key
            : search.words;
      this.#search = { words, index: words === "" ? undefined : history.find(words) };
    }
  }

  /** `quiet` opens the menu while typing; Tab always does. */
  async #openMenu(quiet = false): Promise<void> {
    const { text, cursor } = this.#editor.input;
    const target = completionTarget(text, cursor);
    if (!target) {
      this.#menu = undefined;
      return;
    }
    const items = await this.#options.complete(target.word);
    if (this.#editor.input.text !== text || this.#editor.input.cursor !== cursor) return;
    this.#menu = openMenu(target, items);
    if (!quiet && items.length === 1) this.#accept();
    this.#render();
  }

  #accept(): boolean {
    const menu = this.#menu;
    const item = menu?.items[menu.chosen];
    this.#menu = undefined;
    if (!menu || !item) return true;
    const { text, cursor } = this.#editor.input;
    const value = item.value.endsWith("/") ? item.value : `${item.value} `;
    const complete = text.slice(0, menu.target.start) + value + text.slice(cursor);
    const alreadyTyped = text.slice(menu.target.start, cursor) === item.value;
    if (alreadyTyped && item.value.startsWith("/")) return this.#submit();
    this.#editor = withText(this.#editor, complete, menu.target.start + value.length);
    return true;
  }

  /** Gives the terminal to another program. */
  async #suspend(work: () => Promise<unknown>): Promise<void> {
    const { device } = this.#options;
    this.#suspended = true;
    this.#screen.clear();
    await device.stop();
    try {
      await work();
    } catch (error) {
      this.#failed(error);
    }
    this.#suspended = false;
    this.#screen.forget();
    device.start(
      (input) => this.#onInput(input),
      () => this.#render(),
    );
    this.#render();
  }

  // --- drawing ---

  get #width(): number {
    return this.#options.device.columns;
  }

  #schedule(): void {
    if (!this.#frame) {
      this.#frame = setTimeout(() => this.#render(), FRAME_MS);
    }
  }

  #render(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    if (this.#suspended) return;
    this.#preview = this.#markdown.preview();
    const committed = this.#pending;
    this.#pending = [];
    this.#screen.draw(committed, this.#live());
    this.#spin();
  }

  #flushPending(): void {
    if (this.#pending.length > 0)
      this.#screen.draw(this.#pending, { lines: [], cursor: { row: 0, column: 0 } });
    this.#pending = [];
  }

  /** The spinner turns only while something runs, so an idle prompt costs nothing. */
  #spin(): void {
    const busy = this.#options.agent.isRunning;
    if (busy && !this.#spinner) this.#spinner = setInterval(() => this.#render(), SPINNER_MS);
    if (!busy && this.#spinner) {
      clearInterval(this.#spinner);
      this.#spinner = undefined;
    }
  }

  #live(): Live {
    const width = this.#width;
    const above = [...this.#preview.slice(-MAX_PREVIEW_ROWS), ...this.#activity(width)];
    const [asking] = this.#asking;
    if (asking) above.push(...viewPermission(asking.request, width));
    const prompt = this.#search ? this.#searchView() : this.#editorView(width);
    const menu = this.#menuView(width);
    const status = viewStatus(this.#facts(), width);
    return {
      lines: [...above, ...prompt.lines, ...menu, status],
      cursor: { row: above.length + prompt.cursor.row, column: prompt.cursor.column },
    };
  }

  #editorView(width: number) {
    const [asking] = this.#asking;
    const hint = asking
      ? asking.reason
        ? "why not? Enter sends it to the model"
        : ""
      : "ask, or / for commands, @ for files";
    return viewEditor(
      this.#editor,
      width,
      MAX_EDITOR_ROWS,
      this.#options.agent.isRunning && !asking ? "" : hint,
    );
  }

  #searchView() {
    const { words, index } = this.#search ?? { words: "", index: undefined };
    const found = index === undefined ? "" : (this.#options.history.entries[index] ?? "");
    const label = `search: ${words}`;
    const line = truncate(
      [span(label, { role: "accent" }), span(found ? `  ${toOneLine(found)}` : "", { role: "muted" })],
      this.#width,
    );
    return { lines: [line], cursor: { row: 0, column: label.length } };
  }

  #menuView(width: number): Line[] {
    if (!this.#menu) return [];
    const { items, chosen } = visibleItems(this.#menu);
    return items.map(({ value, detail }, i) =>
      truncate(
        [
          span(i === chosen ? "› " : "  ", { role: "accent" }),
          span(toOneLine(value), i === chosen ? { bold: true } : {}),
          span(detail ? `  ${toOneLine(detail)}` : "", { role: "muted" }),
        ],
        width,
      ),
    );
  }

  #activity(width: number): Line[] {
    if (!this.#options.agent.isRunning) return [];
    const frame = span(`${SPINNER[Math.floor(Date.now() / SPINNER_MS) % SPINNER.length]} `, {
      role: "accent",
    });
    const tools = [...this.#tools.values()].map(({ title, started, message }) => {
      const seconds = Math.floor((Date.now() - started) / 1000);
      const detail = [seconds > 0 ? `${seconds} s` : "", message ? toOneLine(message) : ""]
        .filter(Boolean)
        .join(" · ");
      return truncate(
        [frame, span(toOneLine(title)), span(detail ? `  ${detail}` : "", { role: "muted" })],
        width,
      );
    });
    if (tools.length > 0) return tools;
    const thought = this.#thinking.split("\n").at(-1)?.trim() ?? "";
    const text = thought === "" ? "working; Esc stops" : toOneLine(thought);
    return [truncate([frame, span(text, { role: "muted", italic: thought !== "" })], width)];
  }

  #facts(): StatusFacts {
    const { agent, facts } = this.#options;
    const { input, mode } = this.#editor;
    return {
      model: agent.session.conversation.model?.id ?? this.#options.model ?? "",
      ...(this.#context && { context: this.#context }),
      cost: this.#cost,
      cacheHitRate: cacheHitRate(this.#usage),
      ...facts(),
      queued: agent.queued.length,
      ...(mode === "vim" && { vim: input.mode === "command" ? `:${input.commandLine}` : input.mode }),
      ...(this.#note && { note: this.#note }),
    };
  }
}
