import { type Agent, type Content, textOf, type UserPart } from "@octant/agent";
import type { Pick } from "./pick-menu.ts";

/** The result of a command, for the application to carry out. */
export type CommandOutcome =
  | {
      quit?: boolean;
      text?: string;
      send?: string;
      /** Text for the input, for the person to edit and send. */
      draft?: string;
      /** A list to choose a command from. The text says the same to those who cannot choose. */
      pick?: Pick;
      /** Text for the clipboard. */
      copy?: string;
    }
  | undefined;

export type OutboxOptions = {
  agent: Agent;
  /** Runs a line that starts with "/", or with "!" for a shell command, which reports the last line of its output. */
  command: (
    line: string,
    signal: AbortSignal,
    onProgress: (message: string) => void,
  ) => Promise<CommandOutcome>;
  /** Adds mentioned files and pictures to a message. */
  toContent?: (text: string) => Promise<Content>;
};

export type OutboxEvents = {
  /** Markdown for the person. */
  onText: (markdown: string) => void;
  onDraft: (text: string) => void;
  /** A command has started. */
  onCommand: (line: string) => void;
  onPick?: (pick: Pick) => void;
  onCopy: (text: string) => void;
  onQueued: () => void;
  /** Queued messages that no run took, because it was stopped or failed. */
  onUnsent: (text: string) => void;
  onError: (error: unknown) => void;
  onQuit: () => void;
  /** A message or a command has finished. */
  onDone: () => void;
};

/** Delivers the person's input: messages to the agent in order, and commands. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #events: OutboxEvents;
  #prepared: Promise<unknown> = Promise.resolve();
  /** Messages that were queued, some of which may have been delivered. */
  #queued: { text: string; content: readonly UserPart[] }[] = [];
  /** Oldest first: a short one may begin and end while another runs. */
  #commands: readonly { line: string; stop: AbortController; message?: string }[] = [];

  constructor(options: OutboxOptions, events: OutboxEvents) {
    this.#options = options;
    this.#events = events;
    options.agent.subscribe((event) => {
      if (event.type === "unsent")
        events.onUnsent(event.messages.map((one) => this.#typed(one)).join("\n\n"));
    });
  }

  /** A message from the console has only its content. */
  #typed(message: readonly UserPart[]): string {
    return this.#queued.find(({ content }) => content === message)?.text ?? textOf(message);
  }

  /** The running command that began last. */
  get command(): { readonly line: string; readonly message?: string } | undefined {
    return this.#commands.at(-1);
  }

  get isBusy(): boolean {
    return this.#commands.length > 0 || this.#options.agent.isRunning;
  }

  /** The typed text of the messages that wait, oldest first. */
  get queued(): readonly string[] {
    return this.#waiting().map(({ text }) => text);
  }

  /** Takes back the message that was queued last, to edit or drop it. */
  takeBack(): string | undefined {
    const last = this.#waiting().at(-1);
    return last && this.#options.agent.unqueue(last.content) ? last.text : undefined;
  }

  #waiting() {
    const { queued } = this.#options.agent;
    return this.#queued.filter(({ content }) => queued.includes(content));
  }

  submit(text: string): void {
    void (isCommand(text) ? this.#run(text) : this.#send(text)).catch(this.#events.onError);
  }

  /** Stops the running work, the command that began last first, with its sub-agents. */
  stop(): void {
    const last = this.#commands.findLast(({ stop }) => !stop.signal.aborted);
    if (last) last.stop.abort();
    else if (this.#options.agent.isRunning) void this.#options.agent.cancel();
  }

  async #send(text: string): Promise<void> {
    const { agent, toContent = async (plain: string) => plain } = this.#options;
    /** The message that the end of the run has already shown. */
    let shown: string | undefined;
    let isDelivered = false;
    const stopListening = agent.subscribe((event) => {
      if (event.type === "end") shown = event.message;
      isDelivered ||= event.type === "user" && event.origin === "person";
    });
    try {
      const prepared = this.#prepared.then(() => toContent(text));
      this.#prepared = prepared.catch(() => {});
      const content = await prepared;
      if (agent.isRunning) {
        this.#queued.push({ text, content: agent.queue(content) });
        this.#events.onQueued();
        isDelivered = true;
        return;
      }
      await agent.send(content);
    } catch (error) {
      if (!(error instanceof Error && error.message === shown)) this.#events.onError(error);
    } finally {
      stopListening();
    }
    // A message that the model never got, such as one that a hook refused, returns to the person.
    if (!isDelivered) this.#events.onUnsent(text);
    if (!agent.isRunning) this.#queued = [];
    this.#events.onDone();
  }

  async #run(line: string): Promise<void> {
    const command: { line: string; stop: AbortController; message?: string } = {
      line,
      stop: new AbortController(),
    };
    this.#commands = [...this.#commands, command];
    let outcome: CommandOutcome;
    this.#events.onCommand(line);
    try {
      outcome = await this.#options.command(line, command.stop.signal, (message) => {
        command.message = message;
      });
    } catch (error) {
      if (command.stop.signal.aborted) this.#events.onText(`${line.split(" ", 1)[0]} was stopped`);
      else this.#events.onError(error);
    } finally {
      this.#commands = this.#commands.filter((one) => one !== command);
    }
    if (outcome?.copy !== undefined) this.#events.onCopy(outcome.copy);
    if (outcome?.pick && this.#events.onPick) this.#events.onPick(outcome.pick);
    else if (outcome?.text) this.#events.onText(outcome.text);
    if (outcome?.draft) this.#events.onDraft(outcome.draft);
    if (outcome?.quit) this.#events.onQuit();
    else if (outcome?.send) await this.#send(outcome.send);
    else this.#events.onDone();
  }
}

/** "/name" or "!command". A path such as /usr/bin is a message. */
const isCommand = (line: string): boolean => /^(?:\/[^\s/]*(?:\s|$)|!\s*\S)/.test(line);
