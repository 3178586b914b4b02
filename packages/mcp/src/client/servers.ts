import type { Client } from "@modelcontextprotocol/client";
import { type Progress, ToolError } from "@octant/core";
import { type Connection, type ConnectionOptions, connect, type ServerDefinition } from "./connection.ts";
import { checkTools, type ServerTool, toPlainText } from "./definitions.ts";
import { type ServerResult, toServerResult } from "./result.ts";
import { createToolNames } from "./tool-names.ts";

/** Remembers which definitions of tools the person has seen. */
export interface ToolConsent {
  /** The hash that the person agreed to, or undefined for a tool that is new. */
  known(server: string, tool: string): string | undefined;
  /** A tool that is new is taken as it is; it then may not change unseen. */
  remember(server: string, tools: readonly Pick<ServerTool, "tool" | "hash">[]): Promise<void>;
}

export interface McpServersOptions
  extends Pick<ConnectionOptions, "version" | "roots" | "start" | "auth" | "elicit" | "connectMs"> {
  readonly servers: Readonly<Record<string, ServerDefinition>>;
  readonly consent: ToolConsent;
  /** Told, one line at a time, what a person should know. */
  log(line: string): void;
}

/** A tool as a model is offered it. */
export interface NamedTool extends ServerTool {
  /** `mcp__<server>__<tool>`. */
  readonly name: string;
  readonly server: string;
  /** The definition is not the one that the person has seen. It is not run until they agree. */
  readonly changed: boolean;
}

export const SERVER_STATES = ["connecting", "ready", "failed", "needs_login", "closed"] as const;
export type ServerState = (typeof SERVER_STATES)[number];

export interface ServerStatus {
  readonly server: string;
  readonly state: ServerState;
  /** Why it is of no use. */
  readonly reason?: string;
  readonly tools: number;
  /** Tools that wait for consent. */
  readonly changed: number;
  readonly problems: readonly string[];
  readonly version?: string;
  readonly protocol?: string;
}

export interface CallToolOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (update: Progress) => void;
}

export interface McpServers extends AsyncDisposable {
  status(): readonly ServerStatus[];
  /** The tools of all servers that have answered so far, in the order in which they came. */
  tools(): readonly NamedTool[];
  /** Resolves when every server has answered or failed; never rejects. */
  settled(): Promise<void>;
  call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    options: CallToolOptions,
  ): Promise<ServerResult>;
  /** Takes the definitions of a server as they are now. */
  accept(server: string): Promise<number>;
  /** The SDK's client of a server, for what is not about tools: resources, prompts, completion. */
  client(server: string): Promise<Client>;
  close(): Promise<void>;
}

const CALL_MS = 10 * 60_000;
/** A server that dies at once is not started over and over. */
const RESTART_PAUSE_MS = 2_000;

/** Starts all servers side by side. None waits for another, and no failure of one is seen by another. */
export function createMcpServers(options: McpServersOptions): McpServers {
  const names = createToolNames();
  const servers = Object.entries(options.servers).map(([server, definition]) =>
    createServer({ ...options, server, definition }),
  );
  const offered = new Map<string, NamedTool>();
  const find = (server: string) => {
    const found = servers.find((one) => one.server === server);
    if (found) return found;
    const known = servers.map((one) => one.server).join(", ") || "none";
    throw new ToolError("NOT_FOUND", `there is no MCP server '${server}'; servers: ${known}`, {});
  };
  const tools = () => {
    for (const one of servers)
      for (const tool of one.tools()) {
        const name = names.nameOf(one.server, tool.tool);
        const changed = options.consent.known(one.server, tool.tool) !== tool.hash;
        offered.set(name, { ...tool, name, server: one.server, changed });
      }
    return [...offered.values()];
  };
  const close = async () => {
    await Promise.all(servers.map((one) => one.close()));
  };

  return {
    status: () =>
      servers.map((one) => ({
        ...one.status(),
        changed: one.tools().filter(({ tool, hash }) => options.consent.known(one.server, tool) !== hash)
          .length,
      })),
    tools,
    async settled() {
      await Promise.all(servers.map((one) => one.settled()));
    },
    async call(name, input, given) {
      // A name is given when its tool is first listed.
      tools();
      const place = names.placeOf(name);
      if (!place) throw new ToolError("UNKNOWN_TOOL", `there is no tool '${name}'`, { available: [] });
      const one = find(place.server);
      const client = await one.client();
      checkConsent(place.server, place.tool, one.tools(), options.consent);
      return callTool(client, place.tool, input, given);
    },
    async accept(server) {
      const one = find(server);
      await one.client();
      await options.consent.remember(server, one.tools());
      return one.tools().length;
    },
    client: (server) => find(server).client(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function checkConsent(
  server: string,
  tool: string,
  tools: readonly ServerTool[],
  consent: ToolConsent,
): void {
  const now = tools.find((one) => one.tool === tool);
  if (!now)
    throw new ToolError("UNKNOWN_TOOL", `MCP server '${server}' no longer has the tool '${tool}'`, {
      available: tools.map((one) => one.tool),
    });
  if (consent.known(server, tool) === now.hash) return;
  const reason = `MCP server '${server}' changed the definition of '${tool}' since the person saw it`;
  throw new ToolError(
    "APPROVAL_REQUIRED",
    `${reason}; octant mcp test ${server} shows it, and octant mcp accept ${server} takes it`,
    { by: "permission", reason },
  );
}

async function callTool(
  client: Client,
  name: string,
  input: Readonly<Record<string, unknown>>,
  { signal, onProgress }: CallToolOptions,
): Promise<ServerResult> {
  try {
    const result = await client.callTool(
      { name, arguments: { ...input } },
      {
        signal,
        timeout: CALL_MS,
        ...(onProgress && {
          onprogress: ({ progress, total, message }) =>
            onProgress({
              progress,
              ...(total !== undefined && { total }),
              ...(message !== undefined && { message: toPlainText(message) }),
            }),
        }),
      },
    );
    return toServerResult(result);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof ToolError) throw cause;
    throw new ToolError("UPSTREAM_ERROR", `the MCP server failed: ${messageOf(cause)}`, {}, { cause });
  }
}

interface ServerOptions extends McpServersOptions {
  readonly server: string;
  readonly definition: ServerDefinition;
}

interface Server {
  readonly server: string;
  tools(): readonly ServerTool[];
  status(): Omit<ServerStatus, "changed">;
  settled(): Promise<void>;
  /** Connects again when the server has gone. */
  client(): Promise<Client>;
  close(): Promise<void>;
}

function createServer(options: ServerOptions): Server {
  const { server, consent, log } = options;
  let tools: readonly ServerTool[] = [];
  let problems: readonly string[] = [];
  let state: ServerState = "connecting";
  let reason: string | undefined;
  let connecting: Promise<Connection> | undefined;
  let connection: Connection | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<void> = Promise.resolve();

  const fail = (cause: unknown) => {
    if (state === "closed") return;
    state = cause instanceof ToolError && cause.code === "UNAUTHENTICATED" ? "needs_login" : "failed";
    reason = messageOf(cause);
    failedAt = performance.now();
    connecting = undefined;
    connection = undefined;
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
  const open = async (): Promise<Connection> => {
    state = "connecting";
    const made = await connect({
      ...options,
      onToolsChanged() {
        const client = connection?.client;
        // One after the other: a flood of notices makes one list at a time.
        if (client)
          refreshing = refreshing
            .then(() => refresh(client))
            .catch((cause) => log(`MCP server ${server}: ${messageOf(cause)}`));
      },
      onClosed: (why) => fail(new Error(why)),
    });
    try {
      await refresh(made.client);
    } catch (cause) {
      await made.close();
      throw cause;
    }
    connection = made;
    state = "ready";
    reason = undefined;
    return made;
  };
  const start = () => {
    connecting ??= open().catch((cause) => {
      fail(cause);
      throw cause;
    });
    // Who needs the server sees why it failed; the others go on.
    connecting.catch(() => {});
    return connecting;
  };
  start().catch(() => {});

  return {
    server,
    tools: () => tools,
    status: () => {
      const client = connection?.client;
      const version = client?.getServerVersion();
      const protocol = client?.getNegotiatedProtocolVersion();
      return {
        server,
        state,
        ...(reason !== undefined && { reason: toPlainText(reason) }),
        tools: tools.length,
        problems,
        ...(version && { version: toPlainText(`${version.name} ${version.version}`) }),
        ...(protocol !== undefined && { protocol }),
      };
    },
    async settled() {
      await connecting?.catch(() => {});
    },
    async client() {
      if (state === "closed") throw new ToolError("CANCELLED", `MCP server '${server}' was closed`, {});
      const isPaused = !connecting && performance.now() - failedAt < RESTART_PAUSE_MS;
      if (isPaused || state === "needs_login") throw unusable(server, state, reason);
      try {
        const { client } = await start();
        await refreshing;
        return client;
      } catch {
        throw unusable(server, state, reason);
      }
    },
    async close() {
      const made = connecting;
      state = "closed";
      connecting = undefined;
      const opened = connection ?? (await made?.catch(() => undefined));
      await opened?.close().catch(() => {});
    },
  };
}

const unusable = (server: string, state: ServerState, reason = ""): ToolError =>
  state === "needs_login"
    ? new ToolError("UNAUTHENTICATED", reason, {})
    : new ToolError("UPSTREAM_ERROR", `MCP server '${server}' cannot be used: ${toPlainText(reason)}`, {});

const MAX_MESSAGE_CHARS = 500;

/** Servers write messages of any length and form. */
const messageOf = (cause: unknown): string =>
  toPlainText(cause instanceof Error ? cause.message : String(cause)).slice(0, MAX_MESSAGE_CHARS);
