import { type Ask, ToolError } from "@octant/core";
import type { ApiClient } from "./api-client.ts";
import { type CompactionSettings, Compactor } from "./compaction/compactor.ts";
import type { RunEnded, SessionBegan } from "./events.ts";
import { createMeter, type LimitReached, type Limits } from "./limits.ts";
import { runLoop } from "./loop.ts";
import { textOf, textParts, type UserPart } from "./messages.ts";
import type { EventListener, Session } from "./session.ts";
import { type MomentFields, NO_HOOKS, type SessionHooks } from "./session-hooks.ts";
import { LOG_FORMAT } from "./sessions/event-shape.ts";
import { settleOpenCalls } from "./settle-calls.ts";
import { submitPrompt, tellOutcome } from "./tell-outcome.ts";
import type { ToolExecutor } from "./tool-executor.ts";

export interface AgentOptions {
  readonly client: ApiClient;
  readonly tools: ToolExecutor;
  readonly session: Session;
  /** The front end that shows questions. Without it calls that need an approval are refused. */
  readonly ask?: Ask | undefined;
  /** For a new session; a resumed one keeps its own. */
  readonly system?: string;
  readonly cwd?: string;
  readonly parent?: SessionBegan["parent"];
  /** Read at every step. */
  readonly limits?: () => Limits;
  readonly compaction?: CompactionSettings;
  readonly hooks?: SessionHooks | undefined;
  /** How the session came about, as its hooks read it; whether it is new or resumed when absent. */
  readonly source?: "clear" | "fork" | undefined;
  /** Awaited after every run, however it ended. */
  readonly afterRun?: () => Promise<void>;
}

export interface SendOptions {
  readonly signal?: AbortSignal;
  readonly limits?: Limits;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}

export type Content = string | readonly UserPart[];

/** A conversation with a model that has tools. Its events report everything it does. */
export class Agent {
  readonly session: Session;
  /** Why the session ends, as its hooks read it. */
  endReason: MomentFields["SessionEnd"]["reason"] = "other";
  readonly #options: AgentOptions;
  readonly #compactor: Compactor;
  #client: ApiClient;
  readonly #hooks: SessionHooks;
  #hasStarted = false;
  #queued: QueuedMessage[] = [];
  #overLimit: () => LimitReached | undefined = () => undefined;
  #running: { readonly stop: AbortController; readonly ended: Promise<RunEnded> } | undefined;

  constructor(options: AgentOptions) {
    this.session = options.session;
    this.#options = options;
    this.#client = options.client;
    this.#hooks = options.hooks ?? NO_HOOKS;
    this.#compactor = new Compactor(options.session, options.compaction, this.#hooks);
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Messages that wait for the next step, oldest first. */
  get queued(): readonly (readonly UserPart[])[] {
    return this.#queued.map(({ content }) => content);
  }

  /** Sends a message to an idle agent and waits until its run ends. Throws LOCKED while it is working. */
  async send(content: Content, options?: SendOptions): Promise<RunEnded> {
    return this.#start(toParts(content), options);
  }

  /** Continues without a new message, such as after a crash. */
  async proceed(options?: SendOptions): Promise<RunEnded> {
    return this.#start(undefined, options);
  }

  /**
   * Queues a message for a working agent: it is delivered at the next step, or comes back in an event `unsent` when the
   * run is stopped or fails first. An idle agent gets it with the next message. Returns it as it is queued.
   */
  queue(given: Content): readonly UserPart[] {
    const content = toParts(given);
    this.#queued.push({ content, isForRun: this.isRunning });
    this.session.publish({ type: "queued", content, queue_length: this.#queued.length });
    return content;
  }

  /** Takes back one queued message; false when it was delivered. */
  unqueue(content: readonly UserPart[]): boolean {
    const at = this.#queued.findIndex((one) => one.content === content);
    if (at !== -1) this.#queued.splice(at, 1);
    return at !== -1;
  }

  /** Adds something that the model reads with the next message, such as the result of the person's own command. */
  async note(given: Content): Promise<void> {
    await this.#open();
    await this.session.append({ type: "user", origin: "context", content: toParts(given) });
  }

  /** Takes back the messages that were queued for the run and that it has not read. */
  takeBack(): readonly (readonly UserPart[])[] {
    const unsent = this.#queued.filter(({ isForRun }) => isForRun);
    this.#queued = this.#queued.filter(({ isForRun }) => !isForRun);
    return unsent.map(({ content }) => content);
  }

  /** Stops the stream, tools and their processes; resolves when the run has ended. */
  async cancel(): Promise<void> {
    this.#running?.stop.abort();
    await this.#running?.ended.catch(() => {});
  }

  /** The limit that the run has reached, which ends it at its next step. */
  limitReached(): LimitReached | undefined {
    return this.#overLimit();
  }

  /** Compacts the conversation of an idle agent; false when nothing can be left out. */
  async compact(signal = new AbortController().signal): Promise<boolean> {
    if (this.#running) throw busy();
    await settleOpenCalls(this.session);
    return this.#compactor.compact(this.#client, "asked", signal);
  }

  /** Effective from the next request on. */
  async useModel(client: ApiClient): Promise<void> {
    this.#client = client;
    if (this.session.conversation.model)
      await this.session.append({ type: "model_changed", model: client.model });
  }

  subscribe(listener: EventListener): () => void {
    return this.session.subscribe(listener);
  }

  /** Cancels and closes the session. */
  async close(): Promise<void> {
    await this.cancel();
    if (this.#hasStarted) await this.#end();
    await this.session.close();
  }

  #start(content: readonly UserPart[] | undefined, more: SendOptions = {}): Promise<RunEnded> {
    if (this.#running) throw busy();
    const stop = new AbortController();
    const ended = this.#runAll(content, more, stop);
    this.#running = { stop, ended };
    return ended;
  }

  /** A message that is queued while the end of a run is stored starts another one. */
  async #runAll(content: readonly UserPart[] | undefined, more: SendOptions, stop: AbortController) {
    try {
      let end = await this.#run(content, more, stop);
      while (end.reason === "done" && this.#queued.length > 0) end = await this.#run(undefined, more, stop);
      return end;
    } finally {
      this.#overLimit = () => undefined;
      this.#running = undefined;
      const messages = this.takeBack();
      if (messages.length > 0) this.session.publish({ type: "unsent", messages });
    }
  }

  async #run(content: readonly UserPart[] | undefined, more: SendOptions, stop: AbortController) {
    const { session, tools, ask } = this.#options;
    const limits = () => ({ ...this.#options.limits?.(), ...more.limits });
    this.#overLimit = createMeter(limits, session.conversation, () => this.#client.model);
    try {
      const signal = more.signal ? AbortSignal.any([more.signal, stop.signal]) : stop.signal;
      const refused = await this.#begin(content, signal);
      if (refused !== undefined) return await this.#refuse(refused);
      return await runLoop({
        session,
        hooks: this.#hooks,
        client: () => this.#client,
        tools,
        ask,
        compactor: this.#compactor,
        overLimit: this.#overLimit,
        maxTimeMs: limits().max_time_ms,
        signal,
        outputSchema: more.outputSchema,
        takeQueued: () => this.#queued.splice(0).map(({ content }) => content),
      });
    } finally {
      await this.#options.afterRun?.();
    }
  }

  /** Stores what all requests of the session have in common. */
  async #open(): Promise<void> {
    const { session, system = "", cwd = "", parent } = this.#options;
    const { model } = this.#client;
    const tools = this.#options.tools.definitions();
    if (session.conversation.model !== undefined) return;
    await session.append({
      type: "session_began",
      format: LOG_FORMAT,
      system,
      tools,
      model,
      cwd,
      ...(parent && { parent }),
    });
  }

  /** The reason when a hook refuses the message. */
  async #begin(content: readonly UserPart[] | undefined, signal: AbortSignal): Promise<string | undefined> {
    const { session } = this;
    const isNew = session.conversation.model === undefined;
    await this.#open();
    await settleOpenCalls(session);
    const source = this.#options.source ?? (isNew ? "startup" : "resume");
    const refused = await this.#startHooks(source, signal);
    if (refused !== undefined) return refused;
    if (!content) {
      await this.#proceed();
      return undefined;
    }
    const submitted = await submitPrompt(session, this.#hooks, content, signal);
    if (submitted !== undefined) return submitted;
    if (session.conversation.title === "") await session.append({ type: "title", title: toTitle(content) });
    return undefined;
  }

  async #startHooks(
    source: MomentFields["SessionStart"]["source"],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (this.#hasStarted) return undefined;
    this.#hasStarted = true;
    const outcome = await this.#hooks.fire("SessionStart", { subject: source, fields: { source } }, signal);
    await tellOutcome(this.session, outcome);
    return outcome.stop;
  }

  async #refuse(message: string): Promise<RunEnded> {
    const { usage, cost, turns } = this.session.conversation;
    const end: RunEnded = { type: "end", reason: "failed", message, usage, cost, turns };
    await this.session.append(end);
    return end;
  }

  /** A failing hook does not keep the session open. */
  async #end(): Promise<void> {
    const facts = { subject: this.endReason, fields: { reason: this.endReason } };
    await this.#hooks.fire("SessionEnd", facts, AbortSignal.timeout(END_MS)).catch(() => {});
  }

  /** Providers answer to a message or a result, never to an answer. */
  async #proceed(): Promise<void> {
    const { session } = this;
    const last = session.conversation.messages.at(-1);
    if (!last) throw new ToolError("NOT_FOUND", "the session has no message yet; say what to do", {});
    if (last.role === "assistant")
      await session.append({ type: "user", origin: "context", content: textParts("[Continue.]") });
  }
}

interface QueuedMessage {
  readonly content: readonly UserPart[];
  /** Otherwise it belongs to the next message, whenever that is sent. */
  readonly isForRun: boolean;
}

const busy = () => new ToolError("LOCKED", "the agent is busy; queue the message, or cancel first", {});

const toParts = (content: Content): readonly UserPart[] =>
  typeof content === "string" ? textParts(content) : content;

/** How long the hooks of the end may take. */
const END_MS = 10_000;

const MAX_TITLE_CHARS = 80;

/** The first line of the request. */
function toTitle(content: readonly UserPart[]): string {
  const [line = ""] = textOf(content).trim().split("\n", 1);
  return line.length > MAX_TITLE_CHARS ? `${line.slice(0, MAX_TITLE_CHARS - 1).toWellFormed()}…` : line;
}
