import {
  type Ask,
  type Clock,
  type FormQuestion,
  fillIn,
  type Question,
  type QuestionAnswer,
} from "@octant/core";
import { QUIET_MS } from "@octant/runtime";
import { type Choice, choicesFor, type Prompt } from "./view/question.ts";

export type ApprovalsOptions = {
  clock: Clock;
  /** A question was added or answered, or looks different now. */
  onChange: (isNew: boolean) => void;
  /** Keys that turned out not to be an answer but the person's typing. */
  onTyped: (keys: readonly string[]) => void;
  /** The text of the input. */
  typed: () => string;
  /** Whether everything that this choice allows has been on the screen; otherwise the next part is shown. */
  isRead: (choice: Choice) => boolean;
  /** The person wants the agent to stop instead of answering. */
  stop: () => void;
};

/** `text` is a value of a form. */
type Reply = QuestionAnswer & { text?: string };
type Asking = { prompt: Prompt; answer: (reply: Reply) => void; isTyping: boolean };

/**
 * The questions that wait for the person, shown one at a time. A question may appear while the person types something
 * else, so a key counts only when the keyboard is quiet for QUIET_MS before and after it; Enter after the key takes the
 * place of the second wait, and "always" needs it. Other keys belong to the input.
 */
export class Approvals {
  readonly #options: ApprovalsOptions;
  #asking: Asking[] = [];
  #chosen: { choice: Choice; key: string } | undefined;
  #isQuiet = false;
  #pause = new AbortController();
  /** The form that the last text was written for: its next value needs no choice. */
  #written: { by: Question; at: number } | undefined;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  readonly ask: Ask = (question, signal) =>
    question.kind === "form" ? this.#askForm(question, signal) : this.#show({ question }, signal);

  async #askForm(question: FormQuestion, signal: AbortSignal): Promise<QuestionAnswer> {
    const { schema, url } = question;
    const read = async (label: string) => (await this.#show({ question, label }, signal)).text;
    const content = url === undefined ? await fillIn(schema, read) : {};
    if (!content) return { answer: "decline" };
    const { answer } = await this.#show({ question, values: content }, signal);
    return answer === "accept" ? { answer, content } : { answer };
  }

  #show(prompt: Prompt, signal: AbortSignal): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const asking: Asking = {
        prompt,
        isTyping: prompt.label !== undefined && this.#isNextValue(prompt),
        answer: (answer) => this.#settle(asking, () => resolve(answer)),
      };
      const cancelled = () => this.#settle(asking, () => reject(signal.reason));
      signal.addEventListener("abort", cancelled, { once: true });
      this.#asking.push(asking);
      if (this.#asking.length === 1) this.#listenAnew();
      this.#options.onChange(true);
    });
  }

  /** The oldest one, to be shown. */
  get prompt(): Prompt | undefined {
    return this.#asking[0]?.prompt;
  }

  /** Whether the person is typing: the reason for a denial, or the answer to a question. */
  get isTyping(): boolean {
    return this.#asking[0]?.isTyping ?? false;
  }

  /** Whether a key would be taken for an answer now. */
  get isListening(): boolean {
    return this.#isQuiet || this.#chosen !== undefined;
  }

  /** The choice whose key was pressed, until it counts. */
  get chosen(): Choice | undefined {
    return this.#chosen?.choice;
  }

  /** Returns false for a key that is not about the question. */
  key(key: string): boolean {
    const [asking] = this.#asking;
    if (!asking || asking.isTyping) return false;
    // An answer that came too early is in the input: it is not a message either.
    if (!this.#chosen && key === "Enter" && choiceOf(asking.prompt, this.#options.typed().trim())) {
      this.#listenAnew();
      return true;
    }
    const { choice: pressed, key: pressedKey = "" } = this.#chosen ?? {};
    this.#chosen = undefined;
    const isLate = this.#isQuiet;
    if (pressed && (key === "Enter" || key === "Escape")) {
      if (key === "Enter") this.#take(asking, pressed);
      return true;
    }
    if (isLate && (key === "Escape" || key === "Ctrl-C")) {
      this.#options.stop();
      return true;
    }
    const choice = isLate ? choiceOf(asking.prompt, key) : undefined;
    this.#listenAnew();
    if (choice) this.#chosen = { choice, key };
    else if (pressed && !isLate) this.#options.onTyped([pressedKey]);
    return choice !== undefined;
  }

  /** The person did something else, such as paste or scroll: a key right before it was not an answer. */
  pause(): void {
    const key = this.#isQuiet ? undefined : this.#chosen?.key;
    this.#chosen = undefined;
    if (this.prompt) this.#listenAnew();
    if (key !== undefined) this.#options.onTyped([key]);
  }

  /** The person's text. */
  write(text: string): void {
    const [asking] = this.#asking;
    if (asking?.prompt.label === undefined) asking?.answer({ answer: "deny", reason: text });
    else {
      this.#written = { by: asking.prompt.question, at: this.#options.clock.now() };
      asking.answer({ answer: "accept", text });
    }
  }

  #isNextValue({ question }: Prompt): boolean {
    const { by, at = 0 } = this.#written ?? {};
    return this.#asking.length === 0 && by === question && this.#options.clock.now() - at < QUIET_MS;
  }

  #take(asking: Asking, choice: Choice): void {
    if (!this.#options.isRead(choice)) this.#options.onChange(false);
    else if (choice.answer !== "text") asking.answer({ answer: choice.answer });
    else {
      asking.isTyping = true;
      this.#options.onChange(false);
    }
  }

  /** Waits until the keyboard is quiet. */
  #listenAnew(): void {
    this.#pause.abort();
    const pause = new AbortController();
    this.#pause = pause;
    this.#isQuiet = false;
    void this.#options.clock.sleep(QUIET_MS, pause.signal).then(() => {
      const [asking] = this.#asking;
      if (pause.signal.aborted || !asking) return;
      this.#isQuiet = true;
      const choice = this.#chosen?.choice;
      if (choice && choice.answer !== "always") {
        this.#chosen = undefined;
        this.#take(asking, choice);
      } else this.#options.onChange(false);
    });
  }

  #settle(asking: Asking, then: () => void): void {
    if (!this.#asking.includes(asking)) return;
    if (this.#asking[0] === asking) this.#chosen = undefined;
    this.#asking = this.#asking.filter((one) => one !== asking);
    then();
    if (this.#asking.length > 0) this.#listenAnew();
    this.#options.onChange(false);
  }
}

const choiceOf = (prompt: Prompt, text: string): Choice | undefined =>
  choicesFor(prompt).find(({ key, label }) => [key, label].includes(text.toLowerCase()));
