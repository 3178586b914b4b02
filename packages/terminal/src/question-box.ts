import type { Ask } from "@octant/core";
import type { AppOptions } from "./app-options.ts";
import { Approvals } from "./approvals.ts";
import type { InputLine } from "./editor/input-line.ts";
import { runPager } from "./pager.ts";
import type { Line } from "./styled.ts";
import type { Choice, Prompt } from "./view/question.ts";
import { QuestionWindow } from "./view/question-window.ts";

export type QuestionBoxOptions = Pick<AppOptions, "clock" | "device" | "palette"> & {
  /** An answer borrows it; its text is restored afterwards. */
  input: InputLine;
  onChange: (isNew: boolean) => void;
  /** The person typed a key for the input. */
  onTyped: (key: string) => void;
  onNote: (text: string) => void;
  /** Hands the terminal to something else. */
  suspend: (work: () => Promise<unknown>) => void;
  stop: () => void;
};

const STATUS_ROWS = 1;
/** A smaller window has no empty rows around a question. */
const ROOMY_ROWS = 12;
const MIN_ROWS = 3;

/** The question on the screen, between the conversation and the input. */
export class QuestionBox {
  readonly #options: QuestionBoxOptions;
  readonly #approvals: Approvals;
  readonly #window = new QuestionWindow();
  #restoreInput: (() => void) | undefined;

  constructor(options: QuestionBoxOptions) {
    const { clock, input, onChange, onTyped, stop } = options;
    this.#options = options;
    this.#approvals = new Approvals({
      clock,
      onChange: (isNew) => {
        if (this.#approvals.isTyping) this.#restoreInput ??= input.putAside();
        else {
          this.#restoreInput?.();
          this.#restoreInput = undefined;
        }
        onChange(isNew);
      },
      onTyped: (keys) => keys.forEach(onTyped),
      typed: () => input.text,
      isRead: (choice) => this.#isRead(choice),
      stop,
    });
  }

  get ask(): Ask {
    return this.#approvals.ask;
  }

  get isOpen(): boolean {
    return this.#approvals.prompt !== undefined;
  }

  get isRoomy(): boolean {
    return this.#options.device.rows >= ROOMY_ROWS;
  }

  /** Shown in the empty input; undefined without a question. */
  get hint(): string | undefined {
    const { prompt, isTyping } = this.#approvals;
    if (!prompt || !isTyping) return prompt && "";
    return prompt.label === undefined
      ? "why not? Enter sends it to the model"
      : "your answer; Enter sends it";
  }

  /** Returns false for a key of the input: the person may be typing something else. */
  key(key: string): boolean {
    const { prompt, isTyping, isListening } = this.#approvals;
    if (!prompt) return false;
    if (isTyping) return key === "Enter" && this.#options.input.isEmpty && this.submit("");
    if (key === "Ctrl-O") {
      this.#approvals.pause();
      this.#options.suspend(() => this.#showAll(prompt));
      return true;
    }
    // Such as leaving Vim's insert mode, which is a reflex.
    if (key === "Escape" && this.#options.input.wantsEscape && !this.#approvals.chosen) return false;
    const isArrow = key === "Up" || key === "Down";
    return ((!isArrow || isListening) && this.#window.key(key)) || this.#approvals.key(key);
  }

  /** A paste goes to the input. */
  paste(): void {
    this.#approvals.pause();
  }

  /** Returns false when the text is not an answer. */
  submit(text: string): boolean {
    const { prompt, isTyping } = this.#approvals;
    const isAnswer = isTyping && (text !== "" || prompt?.label !== undefined);
    if (isAnswer) this.#approvals.write(text);
    return isAnswer;
  }

  /** As high as fits above the input and the status, whatever else is on the screen. */
  view(inputRows: number): Line[] {
    const { prompt, isListening, chosen, isTyping } = this.#approvals;
    const { columns, rows } = this.#options.device;
    if (!prompt) return [];
    const room = rows - 1 - inputRows - STATUS_ROWS - (this.isRoomy ? 1 : 0);
    const state = { isListening, chosen, isTyping };
    return this.#window.view(prompt, columns, Math.max(room, MIN_ROWS), state);
  }

  #isRead(choice: Choice): boolean {
    if (this.#window.isRead(choice)) return true;
    this.#window.key("PageDown");
    this.#options.onNote("part of this was not shown yet; read to its end first");
    return false;
  }

  async #showAll(prompt: Prompt): Promise<void> {
    const { device, palette } = this.#options;
    const { lines } = this.#window.whole(prompt, device.columns);
    const { isRead } = await runPager(device, palette, lines, { top: 0 });
    if (isRead) this.#window.finish();
    this.#approvals.pause();
  }
}
