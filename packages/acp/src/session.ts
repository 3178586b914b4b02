import {
  type AgentContext,
  type ClientCapabilities,
  type ContentBlock,
  methods,
  type PromptResponse,
  RequestError,
  type SessionUpdate,
  type StopReason,
  type ToolCallContent,
} from "@agentclientprotocol/sdk";
import type { AgentEvent, EndReason, RunEnded, UserPart } from "@octant/agent";
import { ToolError } from "@octant/core";
import { toUserParts } from "./content.ts";
import { type EditorFiles, withEditorFiles } from "./editor-files.ts";
import { editorTerminal } from "./editor-terminal.ts";
import type { AcpHost, ClientMcpServer, FileDiff, OpenedSession } from "./host.ts";
import { createEditorPrompter } from "./permissions.ts";
import { checkMode, checkModel, DEFAULT_MODE, type SessionSettings, toMode } from "./settings.ts";
import { createUpdates } from "./updates.ts";

export interface OpenOptions {
  readonly roots: readonly string[];
  readonly resume?: string;
  readonly mcpServers: readonly ClientMcpServer[];
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  /** Allows commands to run in the editor's terminal, outside the sandbox. */
  readonly editorTerminals: boolean;
  /** How a changed file is shown; as wire version 1 has it when absent. */
  readonly toDiff?: ((diff: FileDiff) => ToolCallContent) | undefined;
}

/** A conversation that a client has open. */
export interface EditorSession {
  readonly id: string;
  readonly settings: SessionSettings;
  readonly models: OpenedSession["models"];
  readonly commands: OpenedSession["commands"];
  /** Sends the whole conversation; resolves after the last update. */
  replay(): Promise<void>;
  update(update: SessionUpdate): Promise<void>;
  prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse>;
  /** Adds a message to the running prompt; false when none is running. */
  steer(blocks: readonly ContentBlock[]): boolean;
  cancel(): void;
  setMode(id: string): void;
  setModel(id: string): Promise<void>;
  close(): Promise<void>;
}

export async function openEditorSession(host: AcpHost, options: OpenOptions): Promise<EditorSession> {
  const { client, capabilities } = options;
  let id = options.resume ?? "";
  let modeId = DEFAULT_MODE;
  let last: Promise<void> = Promise.resolve();
  let running: { readonly ended: Promise<unknown>; cancelled: boolean } | undefined;
  /** The call running in the editor's terminal; writing calls run alone. */
  let terminalCall = "";

  const update = (one: SessionUpdate): Promise<void> => {
    last = last.then(() => client.notify(methods.client.session.update, { sessionId: id, update: one }));
    // A disconnected client reads nothing; the end of its connection closes the session.
    last = last.catch(() => {});
    return last;
  };
  const cancel = () => {
    if (!running) return;
    running.cancelled = true;
    void opened.agent.cancel();
  };
  const sessionId = () => id;
  const prompter = createEditorPrompter({ client, capabilities, sessionId, flush: () => last, cancel });
  const terminals = new Map<string, string>();
  const onOpen = (terminalId: string) => {
    terminals.set(terminalCall, terminalId);
    void update({
      sessionUpdate: "tool_call_update",
      toolCallId: terminalCall,
      content: [{ type: "terminal", terminalId }],
    });
  };
  const [cwd = ""] = options.roots;
  const hasTerminal = options.editorTerminals && capabilities.terminal === true;
  const opened = await host.open({
    roots: options.roots,
    ...(options.resume !== undefined && { resume: options.resume }),
    mcpServers: options.mcpServers,
    prompter,
    mode: () => toMode(modeId),
    tools: hasTerminal ? [editorTerminal({ client, sessionId, cwd, onOpen })] : [],
    wrapTools: (tools, files) =>
      capabilities.fs?.readTextFile
        ? withEditorFiles(tools, toEditorFiles(client, sessionId, capabilities), files)
        : tools,
  });
  const { agent } = opened;
  id = agent.session.id;
  if (options.resume !== undefined && id !== options.resume) {
    await opened[Symbol.asyncDispose]();
    throw new ToolError("NOT_FOUND", `there is no session '${options.resume}'`, { id: options.resume });
  }
  const shows = {
    notices: capabilities.session?.notices != null,
    compaction: capabilities.session?.compaction != null,
  };
  const notes = [...opened.notes];
  let { modelId } = opened;
  const toUpdates = createUpdates({
    ...{ session: opened, shows, replay: false, toDiff: options.toDiff },
    terminalOf: (callId) => terminals.get(callId),
  });
  const listen = (event: AgentEvent) => {
    prompter.listen(event);
    if (event.type === "tool_began" && event.name === "terminal") terminalCall = event.call_id;
    for (const one of toUpdates(event)) void update(one);
  };
  agent.subscribe(listen);

  const run = async (blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> => {
    const parts = toUserParts(blocks);
    const line = commandLine(parts, opened.commands);
    const outcome = line === undefined ? undefined : await opened.command(line, signal);
    if (outcome?.text)
      await update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: outcome.text } });
    if (outcome && outcome.send === undefined) return { stopReason: "end_turn" };
    for (const text of notes.splice(0))
      await update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${text}\n\n` } });
    const end = await agent.send(outcome?.send ?? parts, { signal });
    if (end.reason === "failed") {
      await last;
      throw RequestError.internalError(undefined, end.message ?? "the run failed");
    }
    await sayWhyItEnded(end, update);
    return { stopReason: STOPS[end.reason] };
  };

  return {
    id,
    models: opened.models,
    commands: opened.commands,
    get settings() {
      return { modeId, modelId };
    },
    update,
    async replay() {
      const toReplayed = createUpdates({ session: opened, shows, replay: true, toDiff: options.toDiff });
      for (const event of opened.events()) for (const one of toReplayed(event)) await update(one);
    },
    async prompt(blocks, signal) {
      if (running && !running.cancelled)
        throw RequestError.invalidRequest(
          undefined,
          "a prompt is already running in this session; cancel it, or wait for its answer",
        );
      await running?.ended;
      const mine = { ended: run(blocks, signal), cancelled: false };
      running = { ...mine, ended: mine.ended.catch(() => {}) };
      const current = running;
      try {
        const response = await mine.ended;
        return current.cancelled || signal.aborted ? { stopReason: "cancelled" } : response;
      } catch (cause) {
        if (current.cancelled || signal.aborted) return { stopReason: "cancelled" };
        throw cause;
      } finally {
        if (running === current) running = undefined;
        await last;
      }
    },
    steer(blocks) {
      if (!running || running.cancelled) return false;
      agent.queue(toUserParts(blocks));
      return true;
    },
    cancel,
    setMode(next) {
      modeId = checkMode(next);
    },
    async setModel(next) {
      await opened.useModel(checkModel(next, opened.models));
      modelId = next;
    },
    async close() {
      cancel();
      await running?.ended;
      await opened[Symbol.asyncDispose]();
      await last;
    },
  };
}

const STOPS: Readonly<Record<EndReason, StopReason>> = {
  done: "end_turn",
  cancelled: "cancelled",
  refused: "refusal",
  output_limit: "max_tokens",
  max_tokens: "max_tokens",
  max_turns: "max_turn_requests",
  max_cost: "max_turn_requests",
  max_time: "max_turn_requests",
  repeated_calls: "end_turn",
  failed: "end_turn",
};

/** A stop reason does not say what to do next. */
async function sayWhyItEnded(
  { reason, message }: RunEnded,
  update: (one: SessionUpdate) => Promise<void>,
): Promise<void> {
  if (reason === "done" || reason === "cancelled" || message === undefined) return;
  await update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `\n\n${message}` } });
}

function toEditorFiles(
  client: AgentContext,
  sessionId: () => string,
  { fs }: ClientCapabilities,
): EditorFiles {
  return {
    async read(path) {
      try {
        const { content } = await client.request(methods.client.fs.readTextFile, {
          sessionId: sessionId(),
          path,
        });
        return content;
      } catch {
        // The editor refuses files that it has not opened or may not show; the file on disk counts then.
        return undefined;
      }
    },
    ...(fs?.writeTextFile && {
      async save(path: string, content: string) {
        await client.request(methods.client.fs.writeTextFile, { sessionId: sessionId(), path, content });
      },
    }),
  };
}

/** The slash command in a prompt; undefined for a message to the model. */
function commandLine(
  parts: readonly UserPart[],
  commands: readonly { readonly name: string }[],
): string | undefined {
  const [first, ...rest] = parts;
  if (first?.type !== "text" || rest.length > 0) return undefined;
  const line = first.text.trim();
  const name = /^\/(\S+)/.exec(line)?.[1];
  return commands.some((command) => command.name === name) ? line : undefined;
}
