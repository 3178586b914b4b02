import type { AgentEvent, EndReason } from "@octant/agent";
import { type Ask, toOneLine } from "@octant/core";
import type { AppOptions, Beginning } from "./app-options.ts";
import type { TerminalInput } from "./device.ts";
import { type InputAction, InputLine } from "./editor/input-line.ts";
import { Outbox } from "./outbox.ts";
import { type AppMenu, PickMenu } from "./pick-menu.ts";
import { QuestionBox } from "./question-box.ts";
import { RewindMenu } from "./rewind-menu.ts";
import { type Live, Screen } from "./screen.ts";
import { type Line, span, wrap } from "./styled.ts";
import { ConversationView, SPINNER_MS } from "./view/conversation-view.ts";
import { viewAgents } from "./view/progress.ts";
import { toClipboard, viewQueue, viewTyped } from "./view/queue.ts";
import { type StatusFacts, sessionFacts, viewScript, viewStatus } from "./view/status.ts";
import { toTypedEvent } from "./view/typed-event.ts";

const FRAME_MS = 33;
const MAX_GROWING_ROWS = 16;
/** A lower window has no room for the lines of a script. */
const MIN_SCRIPT_ROWS = 12;
const HINT = "ask, or / for commands, @ for files";

/** The agent in a terminal. `run` resolves when the person leaves. */
export class TerminalApp {
  readonly #options: AppOptions;
  readonly #screen: Screen;
  readonly #view: ConversationView;
  readonly #input: InputLine;
  readonly #question: QuestionBox;
  readonly #outbox: Outbox;
  /** It takes all keys while it is open. */
  #menu: AppMenu | undefined;
  /** The last key, when pressing it again does more. */
  #pressed: "Escape" | "Ctrl-C" | undefined;
  #note: string | undefined;
  #modeChanges = 0;
  /** undefined until the terminal has reported it. */
  #isFocused: boolean | undefined;
  #typedAt = performance.now();
  #frame: NodeJS.Timeout | undefined;
  #spinner: NodeJS.Timeout | undefined;
  /** The app has not started, another program owns the terminal, or the person has left. */
  #suspended = true;
  #leave: () => void = () => {};

  constructor(options: AppOptions) {
    const { device, palette, inputMode, history, complete, highlight } = options;
    this.#options = options;
    this.#screen = new Screen(device, palette);
    this.#view = new ConversationView(() => device.columns, highlight);
    this.#input = new InputLine({ mode: inputMode, history, complete, onChange: () => this.#render() });
    this.#question = new QuestionBox({
      ...options,
      input: this.#input,
      onChange: (isNew) => {
        if (isNew) this.#ring("The agent has a question");
        this.#render();
      },
      onTyped: (key) => this.#type(key),
      onNote: (text) => {
        this.#note = text;
      },
      suspend: (work) => void this.#suspend(work),
      stop: () => this.#outbox.stop(),
    });
    this.#outbox = new Outbox(options, {
      onText: (markdown) => this.#view.appendMarkdown(markdown),
      onDraft: (text) => {
        this.#input.text = text;
      },
      onUnsent: (text) => {
        this.#input.text = [text, this.#input.text].filter(Boolean).join("\n\n");
      },
      onCommand: (line) => this.print(viewTyped(line, device.columns)),
      onPick: (pick) => {
        this.#menu = new PickMenu(pick);
      },
      onCopy: (text) => device.write(toClipboard(text)),
      onQueued: () => this.#render(),
      onError: (error) => this.#failed(error),
      onQuit: () => this.#leave(),
      onDone: () => this.#render(),
    });
  }

  /** Asks the person at this terminal. */
  get ask(): Ask {
    return this.#question.ask;
  }

  async run(greeting: readonly Line[], { message, draft }: Beginning = {}): Promise<void> {
    const { device, agent, history } = this.#options;
    const stopListening = agent.subscribe((event) => {
      this.#view.onEvent(this.#toShown(event));
      if (event.type === "end") this.#ring(toEnding(event));
      this.refresh();
    });
    if (draft !== undefined) this.#input.text = draft;
    const { promise: left, resolve } = Promise.withResolvers<void>();
    this.#leave = resolve;
    this.#suspended = false;
    this.#listen();
    try {
      if (this.#options.asksForBackground)
        await device.askBackground?.((background) => {
          this.#options.palette.background = background;
          this.#render();
        });
      this.print(greeting);
      if (history.notice !== undefined) this.print([[span(`! ${history.notice}`, { role: "warning" })]]);
      if (message) this.#outbox.submit(message);
      await left;
    } finally {
      stopListening();
      clearTimeout(this.#frame);
      clearInterval(this.#spinner);
      this.#input.close();
      this.#screen.draw(this.#view.take(), { lines: [], cursor: { row: 0, column: 0 } });
      this.#screen.clear();
      // A late resize or event must not draw over the shell's prompt.
      this.#suspended = true;
      await device.stop();
    }
  }

  #toShown(event: AgentEvent): AgentEvent {
    const { asTyped } = this.#options;
    return asTyped ? toTypedEvent(event, asTyped) : event;
  }

  /** Leaves as if the person had asked for it, such as when the terminal closes. */
  quit(): void {
    this.#leave();
  }

  /** In raw mode the terminal sends Ctrl-C as a key, so the signal comes from elsewhere. */
  interrupt(): void {
    this.quit();
  }

  /** An event of a sub-agent. */
  onMember(role: string, event: AgentEvent): void {
    this.#view.onMember(role, event);
    this.refresh();
  }

  /** Something that the status shows has changed. */
  refresh(): void {
    this.#frame ??= setTimeout(() => this.#render(), FRAME_MS);
  }

  /** Puts lines above the live region. */
  print(lines: readonly Line[]): void {
    this.#view.append(lines);
    this.#render();
  }

  #listen(): void {
    this.#options.device.start(
      (input) => this.#onInput(input),
      () => this.#render(),
    );
  }

  /** Calls the person: with the bell, and with a notification when they seem to be elsewhere. */
  #ring(text: string): void {
    const { bell, device, agent, notify, notifyAfterMs = 0 } = this.#options;
    if (bell) device.write("\x07");
    const isAway =
      this.#isFocused === undefined ? performance.now() - this.#typedAt >= notifyAfterMs : !this.#isFocused;
    if (!isAway || !notify) return;
    const about = agent.session.conversation.title;
    // A terminal or program that fails to show it has nothing to say about the work.
    notify({ title: "Octant", text: about === "" ? text : `${text}: ${about}` }).catch(() => {});
  }

  #onInput(input: TerminalInput): void {
    if (input.kind === "focus") this.#isFocused = input.isFocused;
    if (this.#suspended || input.kind === "focus") return;
    this.#typedAt = performance.now();
    this.#note = undefined;
    const before = this.#pressed;
    this.#pressed = undefined;
    if (input.kind === "paste") this.#paste(input.text);
    else if (this.#question.key(input.key)) this.#render();
    else if (this.#menu) this.#menuKey(this.#menu, input.key);
    else this.#type(input.key, before);
    this.#render();
  }

  #type(typed: string, before?: "Escape" | "Ctrl-C"): void {
    for (const key of this.#input.keysOf(typed))
      if (this.#input.isMidCommand || !this.#appKey(key, before)) this.#act(this.#input.key(key));
  }

  /** Keys of the application rather than the text. */
  #appKey(key: string, before: "Escape" | "Ctrl-C" | undefined): boolean {
    switch (key) {
      case "Ctrl-C":
        if (this.#outbox.isBusy) this.#outbox.stop();
        else if (!this.#input.isEmpty) this.#input.text = "";
        else if (before === "Ctrl-C") this.#leave();
        else {
          this.#pressed = "Ctrl-C";
          this.#note = "Ctrl-C again leaves";
        }
        return true;
      case "Ctrl-D":
        if (this.#input.isEmpty) this.#leave();
        return this.#input.isEmpty;
      case "Alt-Escape":
      case "Escape":
        if (this.#input.wantsEscape) return false;
        if (this.#outbox.isBusy) this.#outbox.stop();
        else return this.#escape(before === "Escape" || key === "Alt-Escape");
        return true;
      case "Ctrl-G":
        void this.#suspend(async () => {
          const text = await this.#options.externalEditor?.(this.#input.text);
          if (text !== undefined) this.#input.text = text.replace(/\n$/, "");
        });
        return true;
      case "Ctrl-V":
        if (!this.#options.attachClipboard || this.#input.wantsControlV) return false;
        void this.#attachClipboard(this.#options.attachClipboard);
        return true;
      case "Ctrl-Z": {
        const { pause } = this.#options.device;
        if (pause) void this.#suspend(pause);
        return pause !== undefined;
      }
      case "Up":
        return this.#takeBack();
      case "Ctrl-B":
        return this.#toBackground();
      case "Shift-Tab":
        void this.#changeMode();
        return true;
      case "Ctrl-O":
        void this.#suspend(async () => this.#options.pager?.());
        return true;
      default:
        return key === "Ctrl-L";
    }
  }

  /** Describing a mode may take a while; only the last one is still true. */
  async #changeMode(): Promise<void> {
    this.#modeChanges += 1;
    const change = this.#modeChanges;
    const said = await this.#options.nextMode?.();
    if (said === undefined || change !== this.#modeChanges) return;
    // An open question was asked by the mode before.
    this.#note = this.#question.isOpen ? `from the next call on, ${said}` : said;
    this.#render();
  }

  /** Pressed twice with an empty input, opens the list of messages to rewind to. */
  #escape(isSecond: boolean): boolean {
    const prompts = this.#input.isEmpty ? (this.#options.prompts?.() ?? []) : [];
    if (prompts.length === 0) return false;
    if (isSecond) this.#menu = new RewindMenu(prompts);
    else {
      this.#pressed = "Escape";
      this.#note = "Esc again goes back to an earlier message";
    }
    return true;
  }

  #menuKey(menu: AppMenu, key: string): void {
    const choice = menu.key(key);
    if (choice === undefined) return;
    this.#menu = undefined;
    if (choice !== "closed") this.#outbox.submit(choice.line);
  }

  /** Up in an empty input takes back the message that was queued last. */
  #takeBack(): boolean {
    const text = this.#input.isEmpty ? this.#outbox.takeBack() : undefined;
    if (text !== undefined) this.#input.text = text;
    return text !== undefined;
  }

  #toBackground(): boolean {
    const count = this.#outbox.isBusy ? (this.#options.toBackground?.() ?? 0) : 0;
    if (count > 0) this.#note = "moved to the background; /jobs lists it";
    return count > 0;
  }

  #paste(text: string): void {
    this.#question.paste();
    const chip = this.#options.attach?.(text);
    if (chip === undefined) this.#input.paste(text);
    else this.#input.insert(`${chip} `);
  }

  async #attachClipboard(attach: () => Promise<string>): Promise<void> {
    try {
      this.#input.insert(`${await attach()} `);
    } catch (error) {
      this.#note = toOneLine(error instanceof Error ? error.message : String(error));
    }
    this.#render();
  }

  #act(action: InputAction | undefined): void {
    if (action?.kind === "submit") this.#submit(action.text);
    if (action?.kind === "quit") this.#leave();
    if (action?.kind === "message") this.#note = action.text;
  }

  #submit(text: string): void {
    if (this.#question.submit(text)) return;
    const prompts =
      text.trim() === "/rewind" && !this.#outbox.isBusy ? (this.#options.prompts?.() ?? []) : [];
    if (prompts.length > 0) this.#menu = new RewindMenu(prompts);
    else this.#outbox.submit(text);
  }

  #failed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const text = this.#options.asTyped?.(message) ?? message;
    const lines = `✗ ${text.trimEnd()}`
      .split("\n")
      .flatMap((line) => wrap([span(toOneLine(line), { role: "error" })], this.#options.device.columns));
    this.print([...lines, []]);
  }

  /** Hands the terminal to another program. */
  async #suspend(work: () => Promise<unknown>): Promise<void> {
    this.#suspended = true;
    this.#screen.clear();
    await this.#options.device.stop();
    try {
      await work();
    } catch (error) {
      this.#failed(error);
    }
    this.#suspended = false;
    this.#screen.forget();
    this.#listen();
    this.#render();
  }

  #render(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    if (this.#suspended) return;
    this.#screen.draw(this.#view.take(), this.#live());
    this.#spin();
  }

  /** The spinner runs only during work, so an idle prompt costs nothing. */
  #spin(): void {
    const busy = this.#outbox.isBusy;
    if (busy) this.#spinner ??= setInterval(() => this.#render(), SPINNER_MS);
    if (busy || !this.#spinner) return;
    clearInterval(this.#spinner);
    this.#spinner = undefined;
  }

  #live(): Live {
    const { device, agent } = this.#options;
    const facts = this.#facts();
    const input = this.#input.view(device.columns, this.#hint());
    const menu = this.#input.menuView(device.columns);
    const question = this.#question.view(input.lines.length + menu.length);
    const growing = this.#view.growing(MAX_GROWING_ROWS);
    const above = [
      ...growing,
      ...(growing.length > 0 && this.#outbox.isBusy ? [[]] : []),
      ...(this.#outbox.isBusy ? this.#view.activity(this.#outbox.command) : []),
      ...(this.#outbox.isBusy ? viewAgents(facts.agents ?? [], device.columns) : []),
      ...(agent.isRunning ? this.#view.plan() : []),
      ...(question.length > 0 ? [[], ...question] : []),
      ...(this.#menu?.view(device.columns) ?? []),
      ...viewQueue(this.#outbox.queued, device.columns, question.length === 0),
    ];
    if (above.length > 0 && (question.length === 0 || this.#question.isRoomy)) above.push([]);
    const script = device.rows >= MIN_SCRIPT_ROWS ? viewScript(facts, device.columns) : [];
    const status = viewStatus(facts, device.columns);
    return {
      lines: [...above, ...input.lines, ...menu, ...script, status],
      cursor: { row: above.length + input.cursor.row, column: input.cursor.column },
    };
  }

  #hint(): string {
    return this.#question.hint ?? (this.#outbox.isBusy || this.#menu ? "" : HINT);
  }

  #facts(): StatusFacts {
    const { agent, facts, model } = this.#options;
    const { modeName } = this.#input;
    return {
      ...sessionFacts(agent, model),
      ...this.#view.facts,
      ...facts(),
      queued: agent.queued.length,
      ...(modeName && { vim: modeName }),
      ...(this.#note && { note: this.#note }),
    };
  }
}

const toEnding = ({ reason }: { reason: EndReason }): string =>
  reason === "done" ? "The agent is done" : "The agent has stopped";
