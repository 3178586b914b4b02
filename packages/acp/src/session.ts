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
import type { AgentEvent, EndReason, UserPart } from "@octant/agent";
import type { AcpHost, FileDiff, OpenedSession, OpenRequest } from "@octant/app";
import { ToolError } from "@octant/core";
import { toUserParts } from "./content.ts";
import { createEditorStep } from "./editor-files.ts";
import { editorTerminal } from "./editor-terminal.ts";
import { createEditorAsk } from "./questions.ts";
import { checkMode, checkModel, type SessionSettings } from "./settings.ts";
import { createUpdates, say } from "./updates.ts";

export interface OpenOptions extends Pick<OpenRequest, "roots" | "resume" | "mcpServers"> {
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  /** Allows commands to run in the editor's terminal, outside the sandbox. */
  readonly editorTerminals: boolean;
  /** How a changed file is shown; as wire version 1 has it when absent. */
  readonly toDiff?: ((diff: FileDiff) => ToolCallContent) | undefined;
}

/** A conversation that a client has open. */
export class EditorSession {
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly #options: OpenOptions;
  readonly #questions = createEditorAsk(this);
  /** The editor's terminals, by the id of their call. */
  readonly #terminals = new Map<string, string>();
  readonly #host: AcpHost;
  #id: string;
  #opened!: OpenedSession;
  #isTrustAsked = false;
  #modelId = "";
  #last: Promise<void> = Promise.resolve();
  #running: { readonly ended: Promise<unknown>; cancelled: boolean } | undefined;
  /** The call running in the editor's terminal; writing calls run alone. */
  #terminalCall = "";

  static async open(host: AcpHost, options: OpenOptions): Promise<EditorSession> {
    const session = new EditorSession(host, options);
    await session.#open(options);
    return session;
  }

  private constructor(host: AcpHost, options: OpenOptions) {
    this.#host = host;
    this.#options = options;
    this.client = options.client;
    this.capabilities = options.capabilities;
    this.#id = options.resume ?? "";
  }

  async #open({ resume, create }: Pick<OpenRequest, "resume" | "create">): Promise<void> {
    const { roots, mcpServers, editorTerminals } = this.#options;
    const hasTerminal = editorTerminals && this.capabilities.terminal === true;
    this.#opened = await this.#host.open({
      roots,
      mcpServers,
      ask: this.#questions.ask,
      ...(resume !== undefined && { resume }),
      ...(create !== undefined && { create }),
      tools: hasTerminal
        ? [editorTerminal({ session: this, cwd: roots[0] ?? "", onOpen: (id) => this.#showTerminal(id) })]
        : [],
      steps: (files) => (this.capabilities.fs?.readTextFile ? [createEditorStep(this, files)] : []),
    });
    const { agent, modelId } = this.#opened;
    this.#id = agent.session.id;
    this.#modelId = modelId;
    if (resume !== undefined && this.#id !== resume) {
      await this.#opened[Symbol.asyncDispose]();
      throw new ToolError("NOT_FOUND", `there is no session '${resume}'`, { id: resume });
    }
    const toUpdates = this.#createUpdates(false);
    agent.subscribe((event) => {
      this.#questions.listen(event);
      if (event.type === "tool_began" && event.name === "terminal") this.#terminalCall = event.call_id;
      for (const one of toUpdates(event)) void this.update(one);
    });
  }

  #createUpdates(replay: boolean): (event: AgentEvent) => readonly SessionUpdate[] {
    const { session } = this.capabilities;
    return createUpdates({
      session: this.#opened,
      replay,
      toDiff: this.#options.toDiff,
      costBefore: replay ? 0 : this.#opened.agent.session.conversation.cost,
      shows: { notices: session?.notices != null, compaction: session?.compaction != null },
      terminalOf: (callId) => this.#terminals.get(callId),
    });
  }

  #showTerminal(terminalId: string): void {
    this.#terminals.set(this.#terminalCall, terminalId);
    void this.update({
      sessionUpdate: "tool_call_update",
      toolCallId: this.#terminalCall,
      content: [{ type: "terminal", terminalId }],
    });
  }

  get id(): string {
    return this.#id;
  }

  get models(): OpenedSession["models"] {
    return this.#opened.models;
  }

  get commands(): OpenedSession["commands"] {
    return this.#opened.commands;
  }

  get settings(): SessionSettings {
    return { modeId: this.#opened.mode, modelId: this.#modelId };
  }

  /** Sends the whole conversation; resolves after the last update. */
  async replay(): Promise<void> {
    const toUpdates = this.#createUpdates(true);
    for await (const event of this.#opened.events())
      for (const one of toUpdates(event)) await this.update(one);
  }

  update(update: SessionUpdate): Promise<void> {
    this.#last = this.#last
      .then(() => this.client.notify(methods.client.session.update, { sessionId: this.id, update }))
      // A disconnected client reads nothing; the end of its connection closes the session.
      .catch(() => {});
    return this.#last;
  }

  /** Resolves when the client was sent all updates. */
  flush(): Promise<void> {
    return this.#last;
  }

  async prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    if (this.#running && !this.#running.cancelled)
      throw RequestError.invalidRequest(
        undefined,
        "a prompt is already running in this session; cancel it, or wait for its answer",
      );
    await this.#running?.ended;
    const answer = this.#run(blocks, signal);
    const current = { ended: answer.catch(() => {}), cancelled: false };
    this.#running = current;
    try {
      const response = await answer;
      return current.cancelled || signal.aborted ? { stopReason: "cancelled" } : response;
    } catch (cause) {
      if (current.cancelled || signal.aborted) return { stopReason: "cancelled" };
      throw cause;
    } finally {
      if (this.#running === current) this.#running = undefined;
      await this.#last;
    }
  }

  async #run(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
    const parts = toUserParts(blocks);
    const { command, commands } = this.#opened;
    const line = commandLine(parts, commands);
    const outcome = line === undefined ? undefined : await command(line, signal);
    if (outcome?.text) await this.update(say("agent_message_chunk", outcome.text));
    if (outcome && outcome.send === undefined) return { stopReason: "end_turn" };
    await this.#askForTrust(signal);
    if (this.#running?.cancelled) return { stopReason: "cancelled" };
    const { reason, message } = await this.#opened.agent.send(outcome?.send ?? parts, { signal });
    if (reason === "failed") {
      await this.#last;
      throw RequestError.internalError(undefined, message ?? "the run failed");
    }
    // A stop reason does not say what to do next.
    if (reason !== "done" && reason !== "cancelled" && message !== undefined)
      await this.update(say("agent_message_chunk", `\n\n${message}`));
    return { stopReason: STOPS[reason] };
  }

  /** Asks once, before the first message to the model; trusted content takes effect at once. */
  async #askForTrust(signal: AbortSignal): Promise<void> {
    if (this.#isTrustAsked) return;
    const request = await this.#opened.findUntrusted();
    const isTrusted = request && (await this.#questions.askForTrust(request.lines, signal));
    // A turn that was stopped leaves the question open.
    this.#isTrustAsked = !request || isTrusted !== undefined;
    if (isTrusted === false) request?.decline();
    if (!isTrusted) return;
    await request?.trust();
    await this.#reopen();
  }

  /** Opens the session anew, with its id, mode and model. */
  async #reopen(): Promise<void> {
    const { modeId, modelId } = this.settings;
    const { agent } = this.#opened;
    const hasBegun = agent.session.conversation.model !== undefined;
    await this.#opened[Symbol.asyncDispose]();
    await this.#open(hasBegun ? { resume: this.#id } : { create: this.#id });
    this.setMode(modeId);
    if (modelId !== this.#modelId) await this.setModel(modelId);
    await this.tellCommands();
  }

  tellCommands(): Promise<void> {
    return this.update({
      sessionUpdate: "available_commands_update",
      availableCommands: this.commands.map(({ name, description, hint }) => ({
        name,
        description,
        ...(hint !== undefined && { input: { hint } }),
      })),
    });
  }

  /** Adds a message to the running prompt; false when none is running. */
  steer(blocks: readonly ContentBlock[]): boolean {
    if (!this.#running || this.#running.cancelled) return false;
    this.#opened.agent.queue(toUserParts(blocks));
    return true;
  }

  cancel(): void {
    if (!this.#running) return;
    this.#running.cancelled = true;
    void this.#opened.agent.cancel();
  }

  setMode(id: string): void {
    this.#opened.setMode(checkMode(id));
  }

  async setModel(id: string): Promise<void> {
    await this.#opened.useModel(checkModel(id, this.models));
    this.#modelId = id;
  }

  async close(): Promise<void> {
    this.cancel();
    await this.#running?.ended;
    await this.#opened[Symbol.asyncDispose]();
    await this.#last;
  }
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
