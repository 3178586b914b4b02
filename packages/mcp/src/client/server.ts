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
  extends Omit<ConnectionOptions, "onToolsChanged" | "onOffersChanged" | "onClosed"> {
  readonly consent: ToolConsent;
  /** Receives messages for the person, one line at a time. */
  log(line: string): void;
}

/** A server that crashes at once is not restarted in a loop. */
const RESTART_PAUSE_MS = 2_000;

/** One server: connected on creation, and reconnected when needed. */
export type Server = ReturnType<typeof createServer>;

export function createServer(options: ServerOptions) {
  const { server, consent, log } = options;
  let tools: readonly ServerTool[] = [];
  let offers = NO_OFFERS;
  let problems: readonly string[] = [];
  let state: ServerState = "connecting";
  let reason: string | undefined;
  let connecting: Promise<Client> | undefined;
  let connected: Client | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<void> = Promise.resolve();
  let offering: Promise<void> = Promise.resolve();

  const fail = (cause: unknown) => {
    if (state === "closed") return;
    state = cause instanceof ToolError && cause.code === "UNAUTHENTICATED" ? "needs_login" : "failed";
    reason = messageOf(cause);
    failedAt = performance.now();
    connecting = undefined;
    connected = undefined;
  };
  const refresh = async (client: Client) => {
    const listed = client.getServerCapabilities()?.tools ? (await client.listTools()).tools : [];
    const checked = checkTools(listed);
    tools = checked.tools;
    for (const problem of checked.problems)
      if (!problems.includes(problem)) log(`MCP server ${server}: ${problem}`);
    problems = checked.problems;
    await consent.remember(
      server,
      tools.filter(({ tool }) => consent.known(server, tool) === undefined),
    );
    const changed = tools.filter(({ tool, hash }) => consent.known(server, tool) !== hash);
    if (changed.length > 0)
      log(
        `MCP server ${server} changed ${changed.map(({ tool }) => tool).join(", ")}; not run until you agree: octant mcp accept ${server}`,
      );
  };
  const complain = (cause: unknown) => log(`MCP server ${server}: ${messageOf(cause)}`);
  const offer = async (client: Client) => {
    offers = await listOffers(server, client);
  };
  const open = async (): Promise<Client> => {
    state = "connecting";
    const client = await connect({
      ...options,
      // Serialised: a flood of notifications causes one listing at a time.
      onToolsChanged() {
        if (connected) refreshing = refreshing.then(() => refresh(client)).catch(complain);
      },
      onOffersChanged() {
        if (connected) offering = offering.then(() => offer(client)).catch(complain);
      },
      onClosed: (why) => fail(new Error(why)),
    });
    try {
      await refresh(client);
    } catch (cause) {
      await client.close();
      throw cause;
    }
    connected = client;
    // Tools do not wait for it.
    offering = offer(client).catch(complain);
    state = "ready";
    reason = undefined;
    return client;
  };
  const start = () => {
    connecting ??= open().catch((cause) => {
      fail(cause);
      throw cause;
    });
    // The caller that needs the server sees the failure; the others continue.
    connecting.catch(() => {});
    return connecting;
  };
  start().catch(() => {});

  return {
    server,
    tools: () => tools,
    offers: () => offers,
    status: (): Omit<ServerStatus, "changed"> => {
      const version = connected?.getServerVersion();
      const protocol = connected?.getNegotiatedProtocolVersion();
      return {
        server,
        state,
        ...(reason !== undefined && { reason: toPlainText(reason) }),
        tools: tools.length,
        prompts: offers.prompts.length,
        resources: offers.resources.length,
        problems,
        ...(version && { version: toPlainText(`${version.name} ${version.version}`) }),
        ...(protocol !== undefined && { protocol }),
      };
    },
    async settled(): Promise<void> {
      await connecting?.catch(() => {});
      await offering;
    },
    /** Reconnects when the server has gone. */
    async client(): Promise<Client> {
      if (state === "closed") throw new ToolError("CANCELLED", `MCP server '${server}' was closed`, {});
      const isPaused = !connecting && performance.now() - failedAt < RESTART_PAUSE_MS;
      if (isPaused || state === "needs_login") throw unusable(server, state, reason);
      try {
        const client = await start();
        await refreshing;
        return client;
      } catch {
        throw unusable(server, state, reason);
      }
    },
    async close(): Promise<void> {
      const made = connecting;
      state = "closed";
      connecting = undefined;
      const opened = connected ?? (await made?.catch(() => undefined));
      await opened?.close().catch(() => {});
    },
  };
}

const unusable = (server: string, state: ServerState, reason = ""): ToolError =>
  state === "needs_login"
    ? new ToolError("UNAUTHENTICATED", reason, {})
    : new ToolError("UPSTREAM_ERROR", `MCP server '${server}' cannot be used: ${toPlainText(reason)}`, {});

const MAX_MESSAGE_CHARS = 500;

/** Servers send messages of any length and form. */
export const messageOf = (cause: unknown): string =>
  toPlainText(cause instanceof Error ? cause.message : String(cause)).slice(0, MAX_MESSAGE_CHARS);
