import type { Client } from "@modelcontextprotocol/client";
import { ToolError } from "@octant/core";
import { type ConnectionOptions, connect } from "./connection.ts";
import { checkTools, type ServerTool, toPlainText } from "./definitions.ts";
import { listOffers, NO_OFFERS } from "./offers.ts";

/** Remembers the tool definitions that the person has seen. */
export interface ToolConsent {
  /** The hash that the person agreed to, or undefined for a new tool. */
  known(server: string, tool: string): string | undefined;
  /** A new tool is accepted as it is; after that it cannot change unnoticed. */
  remember(server: string, tools: readonly Pick<ServerTool, "tool" | "hash">[]): Promise<void>;
}

type ServerState = "connecting" | "ready" | "failed" | "needs_login" | "closed";

export interface ServerStatus {
  readonly server: string;
  readonly state: ServerState;
  /** Why it is unusable. */
  readonly reason?: string;
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  /** The number of tools that wait for consent. */
  readonly changed: number;
  readonly problems: readonly string[];
  readonly version?: string;
  readonly protocol?: string;
}

export interface ServerOptions
  extends Omit<ConnectionOptions, "onToolsChanged" | "onOffersChanged" | "onClosed" | "signal"> {
  readonly consent: ToolConsent;
  /** Receives messages for the person, one line at a time. */
  log(line: string): void;
  /** Receives the reason why the server cannot be used, with what its program wrote to stderr. */
  onFailed?(line: string): void;
}

/** A server that crashes at once is not restarted in a loop. */
const RESTART_PAUSE_MS = 2_000;

/** One server: connected on creation, and reconnected when needed. */
export class Server {
  readonly server: string;
  readonly #options: ServerOptions;
  #tools: readonly ServerTool[] = [];
  #offers = NO_OFFERS;
  #problems: readonly string[] = [];
  #state: ServerState = "connecting";
  #reason: string | undefined;
  #connecting: Promise<Client> | undefined;
  #connected: Client | undefined;
  readonly #closing = new AbortController();
  #failedAt = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> = Promise.resolve();
  #offering: Promise<void> = Promise.resolve();

  constructor(options: ServerOptions) {
    this.server = options.server;
    this.#options = options;
    void this.#start();
  }

  get tools(): readonly ServerTool[] {
    return this.#tools;
  }

  get offers() {
    return this.#offers;
  }

  status(): Omit<ServerStatus, "changed"> {
    const version = this.#connected?.getServerVersion();
    const protocol = this.#connected?.getNegotiatedProtocolVersion();
    return {
      server: this.server,
      state: this.#state,
      ...(this.#reason !== undefined && { reason: toPlainText(this.#reason) }),
      tools: this.#tools.length,
      prompts: this.#offers.prompts.length,
      resources: this.#offers.resources.length,
      problems: this.#problems,
      ...(version && { version: toPlainText(`${version.name} ${version.version}`) }),
      ...(protocol !== undefined && { protocol }),
    };
  }

  async settled(): Promise<void> {
    await this.#connecting?.catch(() => {});
    await this.#offering;
  }

  /** Reconnects when the server has gone. */
  async client(): Promise<Client> {
    if (this.#state === "closed")
      throw new ToolError("CANCELLED", `MCP server '${this.server}' was closed`, {});
    const isPaused = !this.#connecting && performance.now() - this.#failedAt < RESTART_PAUSE_MS;
    if (isPaused || this.#state === "needs_login") throw this.#unusable();
    try {
      const client = await this.#start();
      await this.#refreshing;
      return client;
    } catch {
      throw this.#unusable();
    }
  }

  async close(): Promise<void> {
    const connecting = this.#connecting;
    this.#state = "closed";
    this.#connecting = undefined;
    // A server that has not answered yet is not waited for.
    this.#closing.abort();
    await connecting?.catch(() => {});
    await this.#connected?.close().catch(() => {});
  }

  #start(): Promise<Client> {
    this.#connecting ??= this.#open().catch((cause) => {
      this.#fail(cause);
      throw cause;
    });
    // The caller that needs the server sees the failure; the others continue.
    this.#connecting.catch(() => {});
    return this.#connecting;
  }

  async #open(): Promise<Client> {
    this.#state = "connecting";
    const client = await connect({
      ...this.#options,
      signal: this.#closing.signal,
      // Serialised: a flood of notifications causes one listing at a time.
      onToolsChanged: () => {
        if (this.#connected)
          this.#refreshing = this.#refreshing.then(() => this.#refresh(client)).catch(this.#complain);
      },
      onOffersChanged: () => {
        if (this.#connected)
          this.#offering = this.#offering.then(() => this.#offer(client)).catch(this.#complain);
      },
      onClosed: (why) => this.#fail(new Error(why)),
    });
    // Ends a question that the server leaves open.
    const leave = () => void client.close().catch(() => {});
    this.#closing.signal.addEventListener("abort", leave, { once: true });
    try {
      await this.#refresh(client);
    } catch (cause) {
      await client.close();
      throw cause;
    }
    this.#connected = client;
    // Tools do not wait for it.
    this.#offering = this.#offer(client).catch(this.#complain);
    this.#state = "ready";
    this.#reason = undefined;
    return client;
  }

  async #refresh(client: Client): Promise<void> {
    const { consent, log } = this.#options;
    const listed = client.getServerCapabilities()?.tools ? (await client.listTools()).tools : [];
    const { tools, problems } = checkTools(listed);
    this.#tools = tools;
    for (const problem of problems)
      if (!this.#problems.includes(problem)) log(`MCP server ${this.server}: ${problem}`);
    this.#problems = problems;
    await consent.remember(
      this.server,
      tools.filter(({ tool }) => consent.known(this.server, tool) === undefined),
    );
    const changed = tools.filter(({ tool, hash }) => consent.known(this.server, tool) !== hash);
    if (changed.length > 0)
      log(
        `MCP server ${this.server} changed ${changed.map(({ tool }) => tool).join(", ")}; not run until you agree: octant mcp accept ${this.server}`,
      );
  }

  async #offer(client: Client): Promise<void> {
    this.#offers = await listOffers(this.server, client);
  }

  #complain = (cause: unknown) => this.#options.log(`MCP server ${this.server}: ${messageOf(cause)}`);

  #fail(cause: unknown): void {
    if (this.#state === "closed") return;
    this.#state = cause instanceof ToolError && cause.code === "UNAUTHENTICATED" ? "needs_login" : "failed";
    const reason = messageOf(cause);
    if (reason !== this.#reason)
      this.#options.onFailed?.(
        `MCP server ${this.server} cannot be used: ${reason}; octant mcp test ${this.server} tries it`,
      );
    this.#reason = reason;
    this.#failedAt = performance.now();
    this.#connecting = undefined;
    this.#connected = undefined;
  }

  #unusable(): ToolError {
    const reason = this.#reason ?? "";
    return this.#state === "needs_login"
      ? new ToolError("UNAUTHENTICATED", reason, {})
      : new ToolError(
          "UPSTREAM_ERROR",
          `MCP server '${this.server}' cannot be used: ${toPlainText(reason)}`,
          {},
        );
  }
}

const MAX_MESSAGE_CHARS = 500;

/** Servers send messages of any length and form. */
export const messageOf = (cause: unknown): string =>
  toPlainText(cause instanceof Error ? cause.message : String(cause)).slice(0, MAX_MESSAGE_CHARS);
