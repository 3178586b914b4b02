import { ToolError } from "@octant/core";
import { type PermissionPrompter, unattended } from "@octant/runtime";
import type { ApiClient } from "./api-client.ts";
import { type CompactionSettings, createCompactor } from "./compaction/compactor.ts";
import type { Compacted, RunEnded, SessionBegan } from "./events.ts";
import { createMeter, type LimitReached, type Limits } from "./limits.ts";
import { runLoop } from "./loop.ts";
import { textOf, textParts, type UserPart } from "./messages.ts";
import type { EventListener, Session } from "./session.ts";
import type { ToolExecutor } from "./tool-executor.ts";

export interface AgentOptions {
  readonly client: ApiClient;
  readonly tools: ToolExecutor;
  readonly session: Session;
  /** Without it nobody can be asked, and calls that need an approval are refused. */
  readonly prompter?: PermissionPrompter;
  /** For a new session; a resumed one keeps its own. */
  readonly system?: string;
  readonly cwd?: string;
  readonly parent?: SessionBegan["parent"];
  /** Read at every step. */
  readonly limits?: () => Limits;
  readonly compaction?: CompactionSettings;
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
export interface Agent {
  readonly session: Session;
  readonly isRunning: boolean;
  /** Sends a message to an idle agent and waits until its run ends. Throws LOCKED while it is working. */
  send(content: Content, options?: SendOptions): Promise<RunEnded>;
  /** Continues without a new message, such as after a crash. */
  proceed(options?: SendOptions): Promise<RunEnded>;
  /** Queues a message for a working agent: it is delivered at the next step. */
  queue(content: Content): void;
  /** Messages that wait for the next step, oldest first. */
  readonly queued: readonly (readonly UserPart[])[];
  /** Removes and returns the undelivered messages. */
  unqueue(): readonly (readonly UserPart[])[];
  /** Stops the stream, tools and their processes; resolves when the run has ended. */
  cancel(): Promise<void>;
  /** The limit that the run has reached, which ends it at its next step. */
  limitReached(): LimitReached | undefined;
  /** Compacts the conversation now; false when nothing can be left out. */
  compact(signal?: AbortSignal): Promise<boolean>;
  /** Effective from the next request on. */
  useModel(client: ApiClient): Promise<void>;
  subscribe(listener: EventListener): () => void;
  /** Cancels and closes the session. */
  close(): Promise<void>;
}

export function createAgent(options: AgentOptions): Agent {
  const { session, tools, prompter = unattended } = options;
  let { client } = options;
  let waiting: (readonly UserPart[])[] = [];
  let overLimit: () => LimitReached | undefined = () => undefined;
  let running: { readonly stop: AbortController; readonly ended: Promise<RunEnded> } | undefined;

  const takeQueued = () => {
    const taken = waiting;
    waiting = [];
    return taken;
  };
  const compactor = createCompactor(session, options.compaction);
  const compact = (cause: Compacted["cause"], signal: AbortSignal) =>
    compactor.compact(client, cause, signal);

  const begin = async (content: readonly UserPart[] | undefined, isNew: boolean) => {
    if (isNew) await session.append(toBeginning(options, client));
    if (!content) return;
    await session.append({ type: "user", origin: "person", content });
    if (isNew) await session.append({ type: "title", title: toTitle(content) });
  };
  const run = async (content: readonly UserPart[] | undefined, more: SendOptions, stop: AbortController) => {
    const signal = more.signal ? AbortSignal.any([more.signal, stop.signal]) : stop.signal;
    const limits = () => ({ ...options.limits?.(), ...more.limits });
    overLimit = createMeter(limits, session.conversation);
    await begin(content, session.conversation.model === undefined);
    return runLoop({
      session,
      client,
      tools,
      prompter,
      overLimit,
      maxTimeMs: limits().max_time_ms,
      signal,
      ...(more.outputSchema && { outputSchema: more.outputSchema }),
      takeQueued,
      needsCompaction: () => compactor.isNeeded(client),
      compact,
    });
  };
  const start = (content: readonly UserPart[] | undefined, more: SendOptions = {}) => {
    if (running) throw new ToolError("LOCKED", "the agent is busy; queue the message, or cancel first", {});
    const stop = new AbortController();
    const ended = run(content, more, stop).finally(async () => {
      await options.afterRun?.();
      overLimit = () => undefined;
      running = undefined;
    });
    running = { stop, ended };
    return ended;
  };
  const cancel = async () => {
    running?.stop.abort();
    await running?.ended.catch(() => {});
  };

  return {
    session,
    get isRunning() {
      return running !== undefined;
    },
    send: async (content, more) => start(toContent(content), more),
    proceed: async (more) => start(undefined, more),
    queue(content) {
      waiting.push(toContent(content));
      session.publish({ type: "queued", content: toContent(content), queue_length: waiting.length });
    },
    get queued() {
      return waiting;
    },
    unqueue: takeQueued,
    cancel,
    limitReached: () => overLimit(),
    compact: (signal = new AbortController().signal) => compact("asked", signal),
    async useModel(next) {
      client = next;
      if (session.conversation.model) await session.append({ type: "model_changed", model: next.model });
    },
    subscribe: session.subscribe,
    async close() {
      await cancel();
      await session.close();
    },
  };
}

const toContent = (content: Content): readonly UserPart[] =>
  typeof content === "string" ? textParts(content) : content;

const toBeginning = (
  { system = "", tools, cwd = "", parent }: AgentOptions,
  { model }: ApiClient,
): SessionBegan => ({
  type: "session_began",
  system,
  tools: tools.definitions(),
  model,
  cwd,
  ...(parent && { parent }),
});

const MAX_TITLE_CHARS = 80;

/** The first line of the request. */
function toTitle(content: readonly UserPart[]): string {
  const [line = ""] = textOf(content).trim().split("\n", 1);
  return line.length > MAX_TITLE_CHARS ? `${line.slice(0, MAX_TITLE_CHARS - 1).toWellFormed()}…` : line;
}
