import { createInterface, type Interface } from "node:readline";
import type { AgentEvent } from "@octant/agent";
import { type Ask, toOneLine } from "@octant/core";
import type { AppOptions, Beginning } from "./app-options.ts";
import { Approvals } from "./approvals.ts";
import { Outbox } from "./outbox.ts";
import { type Line, plainText, span } from "./styled.ts";
import { ConversationView } from "./view/conversation-view.ts";
import { type Choice, type Prompt, viewChoices, viewQuestion } from "./view/question.ts";
import { toClipboard } from "./view/queue.ts";
import { sessionFacts, viewStatus } from "./view/status.ts";

export type PlainOptions = Pick<
  AppOptions,
  "agent" | "clock" | "command" | "facts" | "model" | "toContent"
> & {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream & { columns?: number };
};

/** Words that a screen reader says instead of a symbol. */
const WORDS: Readonly<Record<string, string>> = {
  "✓ ": "done: ",
  "✗ ": "failed: ",
  "› ": "you: ",
  "∙ ": "note: ",
  "! ": "warning: ",
  "? ": "question: ",
};

const DEFAULT_WIDTH = 80;

/** The agent for screen readers and simple terminals: lines are written once, in order, and answered with lines. */
export class PlainApp {
  readonly #options: PlainOptions;
  readonly #view: ConversationView;
  readonly #approvals: Approvals;
  readonly #outbox: Outbox;
  #lines: Interface | undefined;
  /** A line that ends with a backslash continues. */
  #begun = "";
  #shown: Prompt | undefined;
  /** A line that came before an answer would be taken. */
  #early = "";

  constructor(options: PlainOptions) {
    this.#options = options;
    this.#view = new ConversationView(() => this.#width, undefined);
    this.#approvals = new Approvals({
      clock: options.clock,
      onChange: () => this.#ask(),
      onTyped: (lines) => {
        for (const line of lines) this.#say(line);
      },
      typed: () => this.#early,
      // Nothing is hidden here: a question is written in full.
      isRead: () => true,
      stop: () => this.#outbox.stop(),
    });
    this.#outbox = new Outbox(options, {
      onText: (markdown) => {
        this.#view.appendMarkdown(markdown);
        this.#write(this.#view.take());
      },
      onCommand: (line) => this.#write([[span(`› ${toOneLine(line)}`)]]),
      onCopy: (text) => void options.output.write(toClipboard(text)),
      onDraft: (text) => this.#write([[span("edit this and send it:")], [span(toOneLine(text))]]),
      onUnsent: (text) => this.#write([[span("not sent:")], [span(toOneLine(text))]]),
      onQueued: () => this.#write([[span("∙ queued: it is delivered at the next step")]]),
      onError: (error) => this.#failed(error),
      onQuit: () => this.quit(),
      onDone: () => this.#ready(),
    });
  }

  get ask(): Ask {
    return this.#approvals.ask;
  }

  get #width(): number {
    return this.#options.output.columns || DEFAULT_WIDTH;
  }

  async run(greeting: readonly Line[], { message, draft }: Beginning = {}): Promise<void> {
    const { agent, input } = this.#options;
    const stopListening = agent.subscribe((event) => {
      if (event.type === "tool_began") this.#write([[span(`running: ${toOneLine(event.title)}`)]]);
      this.#view.onEvent(event);
      this.#write(this.#view.take());
    });
    this.#write(greeting);
    if (draft !== undefined) this.#write([[span("your message was:")], [span(toOneLine(draft))]]);
    const lines = createInterface({ input, terminal: false });
    this.#lines = lines;
    lines.on("line", (line) => this.#onLine(line));
    const left = new Promise<void>((resolve) => lines.once("close", resolve));
    if (message) this.#outbox.submit(message);
    else this.#ready();
    await left;
    stopListening();
    await agent.cancel();
  }

  /** An event of a sub-agent. */
  onMember(role: string, event: AgentEvent): void {
    if (event.type === "tool_began")
      this.#write([[span(`running: ${toOneLine(role)}: ${toOneLine(event.title)}`)]]);
    this.#view.onMember(role, event);
    this.#write(this.#view.take());
  }

  /** Its status is written before each prompt. */
  refresh(): void {}

  quit(): void {
    this.#lines?.close();
  }

  /** Ctrl-C stops the agent, or leaves when it is idle. */
  interrupt(): void {
    if (this.#outbox.isBusy) this.#outbox.stop();
    else this.quit();
  }

  #onLine(line: string): void {
    const { isTyping, isListening } = this.#approvals;
    this.#early = isListening ? "" : line;
    if (isTyping) this.#approvals.write(line.trim());
    else if (!this.#approvals.key(isListening ? line.trim() || "Enter" : "Enter")) this.#say(line);
    else if (this.#approvals.chosen) this.#confirm(this.#approvals.chosen);
    else if (!isListening) this.#write([[span("ignored: the question had just appeared; answer again")]]);
  }

  #confirm({ label, answer }: Choice): void {
    const how =
      answer === "always" ? "press Enter to confirm, or answer anew" : "press Enter, or wait a moment";
    this.#write([[span(`${label}: ${how}`)]]);
  }

  /** A line for the agent. */
  #say(line: string): void {
    if (line.endsWith("\\")) {
      this.#begun += `${line.slice(0, -1)}\n`;
      return;
    }
    const text = (this.#begun + line).trim();
    this.#begun = "";
    if (text === "") this.#ready();
    else {
      this.#write([[span("working; Ctrl-C stops")]]);
      this.#outbox.submit(text);
    }
  }

  /** Shows a question once, and asks for the answer when one would be taken. */
  #ask(): void {
    const { prompt, isTyping, isListening, chosen } = this.#approvals;
    if (prompt && prompt !== this.#shown) this.#write(viewQuestion(prompt, this.#width).lines);
    this.#shown = prompt;
    if (!prompt || chosen) return;
    if (isTyping) this.#prompt(prompt.label === undefined ? "why not? " : "your answer: ");
    else if (isListening) {
      this.#write(viewChoices(prompt, this.#width, Number.POSITIVE_INFINITY));
      this.#prompt("answer with a letter: ");
    }
  }

  #failed(error: unknown): void {
    this.#write([[span(`✗ ${toOneLine(error instanceof Error ? error.message : String(error))}`)]]);
  }

  #ready(): void {
    const { agent, facts, model } = this.#options;
    if (this.#outbox.isBusy || this.#approvals.prompt) return;
    const status = { ...sessionFacts(agent, model), ...this.#view.facts, ...facts() };
    this.#write([viewStatus({ ...status, queued: 0, isPlain: true }, Number.POSITIVE_INFINITY)]);
    this.#prompt("> ");
  }

  #prompt(text: string): void {
    this.#options.output.write(toOneLine(text));
  }

  #write(lines: readonly Line[]): void {
    for (const line of lines) this.#options.output.write(`${toOneLine(inWords(plainText(line)))}\n`);
  }
}

const inWords = (text: string): string => {
  const word = WORDS[text.slice(0, 2)];
  return word ? word + text.slice(2) : text;
};
