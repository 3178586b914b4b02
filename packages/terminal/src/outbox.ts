import type { Agent, Content } from "@octant/agent";

/** The result of a command, for the application to carry out. */
export type CommandOutcome =
  | {
      quit?: boolean;
      text?: string;
      send?: string;
      /** Text for the input, for the person to edit and send. */
      draft?: string;
    }
  | undefined;

export type OutboxOptions = {
  agent: Agent;
  /** Runs a line that starts with "/". */
  command: (line: string, signal: AbortSignal) => Promise<CommandOutcome>;
  /** Adds mentioned files and pictures to a message. */
  toContent?: (text: string) => Promise<Content>;
};

export type OutboxEvents = {
  /** Markdown for the person. */
  onText: (markdown: string) => void;
  onDraft: (text: string) => void;
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
  /** The typed text of the queued messages. */
  #queued: string[] = [];
  #command: { line: string; stop: AbortController } | undefined;

  constructor(options: OutboxOptions, events: OutboxEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** The running command. */
  get command(): string | undefined {
    return this.#command?.line;
  }

  get isBusy(): boolean {
    return this.#command !== undefined || this.#options.agent.isRunning;
  }

  submit(text: string): void {
    void (text.startsWith("/") ? this.#run(text) : this.#send(text)).catch(this.#events.onError);
  }

  /** Stops the running work, a command with its sub-agents first. */
  stop(): void {
    if (this.#command) this.#command.stop.abort();
    else void this.#options.agent.cancel();
  }

  async #send(text: string): Promise<void> {
    const { agent, toContent = async (plain: string) => plain } = this.#options;
    /** The message that the end of the run has already shown. */
    let shown: string | undefined;
    const stopListening = agent.subscribe((event) => {
      if (event.type === "end") shown = event.message;
    });
    try {
      const prepared = this.#prepared.then(() => toContent(text));
      this.#prepared = prepared.catch(() => {});
      const content = await prepared;
      if (agent.isRunning) {
        agent.queue(content);
        this.#queued.push(text);
        this.#events.onQueued();
        return;
      }
      await agent.send(content);
    } catch (error) {
      if (!(error instanceof Error && error.message === shown)) this.#events.onError(error);
    } finally {
      stopListening();
    }
    this.#takeBack();
    this.#events.onDone();
  }

  #takeBack(): void {
    const { agent } = this.#options;
    if (agent.isRunning) return;
    const count = agent.takeQueued().length;
    const unsent = count > 0 ? this.#queued.slice(-count) : [];
    this.#queued = [];
    if (unsent.length > 0) this.#events.onUnsent(unsent.join("\n\n"));
  }

  async #run(line: string): Promise<void> {
    const command = { line, stop: new AbortController() };
    this.#command ??= command;
    let outcome: CommandOutcome;
    try {
      outcome = await this.#options.command(line, command.stop.signal);
    } catch (error) {
      if (command.stop.signal.aborted) this.#events.onText(`${line.split(" ", 1)[0]} was stopped`);
      else this.#events.onError(error);
    } finally {
      if (this.#command === command) this.#command = undefined;
    }
    if (outcome?.text) this.#events.onText(outcome.text);
    if (outcome?.draft) this.#events.onDraft(outcome.draft);
    if (outcome?.quit) this.#events.onQuit();
    else if (outcome?.send) await this.#send(outcome.send);
    else this.#events.onDone();
  }
}
