import { resolve } from "node:path";
import type { AgentEvent, CallStep, RunEnded, ToolCall, ToolResult } from "@octant/agent";
import type { Ask, Tool } from "@octant/core";
import { awaitServers } from "../mcp-servers/await-servers.ts";
import { withMentions } from "./mentions.ts";
import { type OpenAgentOptions, type OpenedAgent, openAgent } from "./open-agent.ts";
import { createRunResult, type RunResult, watchUnapproved } from "./run-records.ts";
import type { OnMoment } from "./session-hooks.ts";

/** A call that no rule allows. */
export interface ToolUse {
  /** The id of the call in the events of the run. */
  readonly call_id: string | undefined;
  /** Such as `fs.write`, or `mcp__server__tool`. */
  readonly action: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The change that it would make, such as a diff. */
  readonly preview: string | undefined;
  /** Why you are asked. */
  readonly reason: string;
  readonly signal: AbortSignal;
}

/**
 * `session` allows the same for the rest of the session; the model reads the reason of a `deny`, unless `interrupt` ends
 * the run.
 */
export type ToolUseAnswer =
  | { readonly allow: "once" | "session" }
  | { readonly deny: string; readonly interrupt?: boolean };

/** A call of the model; `action` is spelled as in rules and for `canUseTool`. */
export interface HookCall extends ToolCall {
  readonly action: string;
}

/** Functions of your code that run at the steps of a run. */
export interface AgentHooks {
  /** Before a call; what it returns is the result, and the call does not run. */
  beforeCall?(call: HookCall): Promise<ToolResult | undefined> | ToolResult | undefined;
  /** After a call; what it returns replaces the result. */
  afterCall?(call: HookCall, result: ToolResult): Promise<ToolResult | undefined> | ToolResult | undefined;
  /** At the moments of the session, with the fields that a hook in the settings reads; what it returns counts likewise. */
  onMoment?: OnMoment;
}

export interface CreateAgentOptions
  extends Pick<
    OpenAgentOptions,
    | "allow"
    | "client"
    | "env"
    | "from"
    | "host"
    | "limits"
    | "log"
    | "mode"
    | "model"
    | "provider"
    | "servers"
    | "sessions"
    | "stores"
    | "thinking"
  > {
  /** The project; the current folder when absent. */
  readonly cwd?: string;
  /** Your own tools, declared with `defineTool`, which run in this process. */
  readonly tools?: readonly Tool[];
  readonly hooks?: AgentHooks;
  /** Answers questions: permissions unless `canUseTool` does, confirmations, and forms of MCP servers. */
  readonly ask?: Ask;
  /** Decides about calls that no rule allows; without it and `ask` they are refused. */
  canUseTool?(use: ToolUse): Promise<ToolUseAnswer> | ToolUseAnswer;
  /** Ends the run as soon as it returns true: an answer or call in progress is cancelled, and the session stays usable. */
  stopWhen?(event: AgentEvent): boolean;
}

/** The last event of a run. */
export type RunEvent = AgentEvent | Omit<RunResult, "exit_code">;

export interface EmbeddedAgent extends AsyncDisposable {
  /** Sends a message, and yields every event of the run; the last one is its result. */
  run(prompt: string, options?: { readonly signal?: AbortSignal }): AsyncGenerator<RunEvent, void>;
  /** The parts behind it: session, checkpoints, MCP servers, tools. */
  open(): Promise<OpenedAgent>;
  /** Ends its run, commands, jobs and sub-agents. */
  close(): Promise<void>;
}

/** The agent as a library: a conversation that keeps its session from run to run. */
export function createAgent(options: CreateAgentOptions = {}): EmbeddedAgent {
  let opening: Promise<OpenedAgent> | undefined;
  const open = () => (opening ??= openAgent(toOptions(options, interrupt)));
  const interrupt = async (): Promise<void> => (await open()).agent.cancel();
  const close = async () => await (await opening?.catch(() => undefined))?.[Symbol.asyncDispose]();
  return {
    open,
    close,
    async *run(prompt, { signal } = {}) {
      const opened = await open();
      const { agent } = opened;
      const result = createRunResult(agent.session);
      using unapproved = watchUnapproved(opened.octant.sessions.events);
      const events = createQueue<AgentEvent>();
      const unsubscribe = agent.subscribe((event) => {
        result.listen(event);
        events.push(event);
        if (options.stopWhen?.(event)) void agent.cancel();
      });
      let isOver = false;
      const running = awaitServers(opened.servers, options.log)
        .then(() => withMentions(opened, prompt))
        .then((content) => agent.send(content, signal ? { signal } : {}))
        .catch(toFailure)
        .finally(() => {
          isOver = true;
          events.close();
        });
      try {
        yield* events.values();
      } finally {
        unsubscribe();
        // A reader that stops early ends the run.
        if (!isOver) await agent.cancel();
        await running;
      }
      yield result.finish(await running, unapproved.ways.keys());
    },
    [Symbol.asyncDispose]: close,
  };
}

function toOptions(
  { cwd = ".", tools, hooks, canUseTool, ask, stopWhen: _, ...rest }: CreateAgentOptions,
  interrupt: () => Promise<void>,
): OpenAgentOptions {
  return {
    ...rest,
    roots: [resolve(cwd)],
    ...(tools && { customTools: tools }),
    ask: canUseTool || ask ? toAsk(canUseTool, ask, interrupt) : undefined,
    ...(hooks && { steps: () => [toStep(hooks)], onMoment: hooks.onMoment }),
  };
}

const toAsk =
  (
    canUseTool: CreateAgentOptions["canUseTool"],
    others: Ask | undefined,
    interrupt: () => Promise<void>,
  ): Ask =>
  async (question, signal) => {
    try {
      if (question.kind !== "permission" || !canUseTool) return await others?.(question, signal);
      const { call_id, action, input, preview, reason } = question;
      const answer = await canUseTool({ call_id, action, input, preview, reason, signal });
      if ("allow" in answer) return { answer: answer.allow };
      // The call is refused first: stopped with the run, it would seem to have run.
      if (answer.interrupt) setImmediate(interrupt);
      return { answer: "deny", reason: answer.deny };
    } catch (cause) {
      signal.throwIfAborted();
      return { answer: "unattended", reason: `the program that asks failed: ${messageOf(cause)}` };
    }
  };

const toStep =
  ({ beforeCall, afterCall }: AgentHooks): CallStep =>
  async (asked, _outline, next) => {
    const call = { ...asked, action: actionOf(asked) };
    const early = await beforeCall?.(call);
    if (early) return early;
    const result = await next(asked);
    try {
      return (await afterCall?.(call, result)) ?? result;
    } catch (cause) {
      throw new Error(`the call has run, and the hook after it failed: ${messageOf(cause)}`, { cause });
    }
  };

const actionOf = ({ name, input }: ToolCall): string =>
  name.startsWith("mcp__") || typeof input["action"] !== "string" ? name : `${name}.${input["action"]}`;

/** A run that failed midway, such as on a full disk, has a result as well. */
const toFailure = (cause: unknown): Pick<RunEnded, "reason" | "message"> => ({
  reason: "failed",
  message: messageOf(cause),
});

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** Values that are pushed, for one reader. */
function createQueue<T>() {
  const waiting: T[] = [];
  let isClosed = false;
  let changed = Promise.withResolvers<void>();
  const notify = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  return {
    push(value: T): void {
      waiting.push(value);
      notify();
    },
    close: () => {
      isClosed = true;
      notify();
    },
    async *values(): AsyncGenerator<T> {
      for (;;) {
        const { promise } = changed;
        yield* waiting.splice(0);
        if (waiting.length > 0) continue;
        if (isClosed) return;
        await promise;
      }
    },
  };
}
