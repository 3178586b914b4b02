import type { Agent } from "@octant/agent";
import { toOneLine } from "@octant/core";
import type { PermissionAnswer, PermissionPrompter, PermissionRequest } from "@octant/runtime";
import type { Device, TerminalInput } from "./device.ts";
import type { Completer } from "./editor/completion.ts";
import type { InputMode } from "./editor/editor.ts";
import type { History } from "./editor/history.ts";
import { type InputAction, InputLine } from "./editor/input-line.ts";
import type { Highlighter } from "./markdown/render-block.ts";
import type { Palette } from "./paint.ts";
import { type Live, Screen } from "./screen.ts";
import { type Line, span, wrap } from "./styled.ts";
import { ConversationView, SPINNER_MS } from "./view/conversation-view.ts";
import { choicesFor, viewPermission } from "./view/permission.ts";
import { type StatusFacts, viewStatus } from "./view/status.ts";

const FRAME_MS = 33;
const MAX_GROWING_ROWS = 16;
const HINT = "ask, or / for commands, @ for files";

/** What a command asks the application to do. */
export type CommandOutcome =
  | {
      quit?: boolean;
      text?: string;
      send?: string;
      /** Put into the input, for the person to edit and to send. */
      draft?: string;
    }
  | undefined;

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

/** The agent in a terminal. `run` comes back when the person leaves. */
export class TerminalApp {
  readonly #options: AppOptions;
  readonly #screen: Screen;
  readonly #view: ConversationView;
  readonly #input: InputLine;
  #asking: Asking[] = [];
  #note: string | undefined;
  #frame: NodeJS.Timeout | undefined;
  #spinner: NodeJS.Timeout | undefined;
  /** Another program has the terminal, or the person has left. */
  #suspended = false;
  #leave: () => void = () => {};

  constructor(options: AppOptions) {
    const { device, palette, inputMode, history, complete, highlight } = options;
    this.#options = options;
    this.#screen = new Screen(device, palette);
    this.#view = new ConversationView(() => device.columns, highlight);
    this.#input = new InputLine({ mode: inputMode, history, complete, onChange: () => this.#render() });
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
        const cancelled = () => this.#answered(asking, () => reject(request.signal.reason));
        request.signal.addEventListener("abort", cancelled, { once: true });
        this.#asking.push(asking);
        this.#ring();
        this.#render();
      }),
  };

  async run(greeting: readonly Line[], firstMessage?: string): Promise<void> {
    const { device, agent } = this.#options;
    const stopListening = agent.subscribe((event) => {
      this.#view.onEvent(event);
      if (event.type === "end") this.#ring();
      this.#frame ??= setTimeout(() => this.#render(), FRAME_MS);
    });
    this.#listen();
    this.print(greeting);
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
      this.#input.close();
      this.#screen.draw(this.#view.take(), { lines: [], cursor: { row: 0, column: 0 } });
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
    this.#view.append(lines);
    this.#render();
  }

  #listen(): void {
    this.#options.device.start(
      (input) => this.#onInput(input),
      () => this.#render(),
    );
  }

  #ring(): void {
    if (this.#options.bell) this.#options.device.write("\x07");
  }

  #onInput(input: TerminalInput): void {
    if (this.#suspended) return;
    this.#note = undefined;
    const [asking] = this.#asking;
    if (input.kind === "paste") this.#input.paste(input.text);
    else if (asking && !asking.reason) this.#answerKey(asking, input.key);
    else if (this.#input.isMidCommand || !this.#appKey(input.key)) this.#act(this.#input.key(input.key));
    this.#render();
  }

  /** Keys that belong to the application, not to the text. */
  #appKey(key: string): boolean {
    const { agent } = this.#options;
    switch (key) {
      case "Ctrl-C":
        if (agent.isRunning) void agent.cancel();
        else if (this.#input.isEmpty) this.#leave();
        else this.#input.text = "";
        return true;
      case "Ctrl-D":
        if (this.#input.isEmpty) this.#leave();
        return this.#input.isEmpty;
      case "Escape":
        if (this.#input.wantsEscape || !agent.isRunning) return false;
        void agent.cancel();
        return true;
      case "Ctrl-G":
        void this.#suspend(async () => {
          const text = await this.#options.externalEditor?.(this.#input.text);
          if (text !== undefined) this.#input.text = text.replace(/\n$/, "");
        });
        return true;
      case "Ctrl-O":
        void this.#suspend(async () => this.#options.pager?.());
        return true;
      default:
        return key === "Ctrl-L";
    }
  }

  #act(action: InputAction | undefined): void {
    if (action?.kind === "submit") this.#submit(action.text);
    if (action?.kind === "quit") this.#leave();
    if (action?.kind === "message") this.#note = action.text;
  }

  #submit(text: string): void {
    const [asking] = this.#asking;
    if (asking?.reason) asking.answer({ answer: "deny", reason: text });
    else if (text.startsWith("/")) void this.#command(text);
    else this.#send(text);
  }

  #send(text: string): void {
    const { agent } = this.#options;
    if (agent.isRunning) {
      agent.queue(text);
      this.#note = "queued: it is delivered at the next step";
      return;
    }
    agent.send(text).catch((error: unknown) => this.#failed(error));
  }

  async #command(line: string): Promise<void> {
    try {
      const outcome = await this.#options.command(line);
      if (outcome?.text) this.#view.appendMarkdown(outcome.text);
      if (outcome?.send) this.#send(outcome.send);
      if (outcome?.draft) this.#input.text = outcome.draft;
      if (outcome?.quit) this.#leave();
    } catch (error) {
      this.#failed(error);
    }
    this.#render();
  }

  #failed(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.print(wrap([span(`✗ ${toOneLine(text)}`, { role: "error" })], this.#options.device.columns));
  }

  #answerKey(asking: Asking, key: string): void {
    if (key === "Escape" || key === "Ctrl-C") void this.#options.agent.cancel();
    const choice = choicesFor(asking.request).find((one) => one.key === key.toLowerCase());
    if (choice?.answer === "reason") asking.reason = true;
    else if (choice) asking.answer({ answer: choice.answer });
  }

  #answered(asking: Asking, then: () => void): void {
    if (!this.#asking.includes(asking)) return;
    this.#asking = this.#asking.filter((one) => one !== asking);
    then();
    this.#render();
  }

  /** Gives the terminal to another program. */
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

  /** The spinner turns only while something runs, so an idle prompt costs nothing. */
  #spin(): void {
    const busy = this.#options.agent.isRunning;
    if (busy) this.#spinner ??= setInterval(() => this.#render(), SPINNER_MS);
    if (busy || !this.#spinner) return;
    clearInterval(this.#spinner);
    this.#spinner = undefined;
  }

  #live(): Live {
    const { device, agent } = this.#options;
    const [asking] = this.#asking;
    const above = [
      ...this.#view.growing(MAX_GROWING_ROWS),
      ...(agent.isRunning ? this.#view.activity() : []),
      ...(asking ? viewPermission(asking.request, device.columns) : []),
    ];
    const input = this.#input.view(device.columns, this.#hint(asking));
    const status = viewStatus(this.#facts(), device.columns);
    return {
      lines: [...above, ...input.lines, ...this.#input.menuView(device.columns), status],
      cursor: { row: above.length + input.cursor.row, column: input.cursor.column },
    };
  }

  #hint(asking: Asking | undefined): string {
    if (asking) return asking.reason ? "why not? Enter sends it to the model" : "";
    return this.#options.agent.isRunning ? "" : HINT;
  }

  #facts(): StatusFacts {
    const { agent, facts, model = "" } = this.#options;
    const { modeName } = this.#input;
    return {
      model: agent.session.conversation.model?.id ?? model,
      ...this.#view.facts,
      ...facts(),
      queued: agent.queued.length,
      ...(modeName && { vim: modeName }),
      ...(this.#note && { note: this.#note }),
    };
  }
}
