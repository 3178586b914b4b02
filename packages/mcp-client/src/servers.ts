import type { Client } from "@modelcontextprotocol/client";
import { type Progress, ToolError } from "@octant/core";
import { type ConnectionOptions, isUnauthorized, needsLogin, type ServerDefinition } from "./connection.ts";
import { type ServerTool, toPlainText } from "./definitions.ts";
import { getPrompt, readResource } from "./offers.ts";
import { type ServerResult, toServerResult } from "./result.ts";
import { messageOf, Server, type ServerStatus, type ToolConsent } from "./server.ts";
import { createToolNames } from "./tool-names.ts";

export interface McpServersOptions
  extends Pick<ConnectionOptions, "version" | "roots" | "start" | "auth" | "elicit" | "connectMs"> {
  readonly servers: Readonly<Record<string, ServerDefinition>>;
  readonly consent: ToolConsent;
  /** Receives messages for the person, one line at a time. */
  log(line: string): void;
  /** Receives the reason why a server cannot be used, with what its program wrote to stderr. */
  onFailed?(line: string): void;
}

/** A tool as shown to a model. */
export interface NamedTool extends ServerTool {
  /** `mcp__<server>__<tool>`. */
  readonly name: string;
  readonly server: string;
  /** The definition differs from the one the person has seen. It is not run until they agree. */
  readonly changed: boolean;
}

export interface CallToolOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (update: Progress) => void;
}

const CALL_MS = 10 * 60_000;

/** An interface, so that the declarations of other packages name it instead of repeating its members. */
export interface McpServers extends ReturnType<typeof createMcpServers> {}

/** Starts all servers in parallel. None waits for another, and a failure does not affect the others. */
export function createMcpServers(options: McpServersOptions) {
  const names = createToolNames();
  const servers = Object.entries(options.servers).map(
    ([server, definition]) => new Server({ ...options, server, definition }),
  );
  const offered = new Map<string, NamedTool>();
  const find = (server: string) => {
    const found = servers.find((one) => one.server === server);
    if (found) return found;
    const known = servers.map((one) => one.server).join(", ") || "none";
    throw new ToolError("NOT_FOUND", `there is no MCP server '${server}'; servers: ${known}`, {});
  };
  const tools = (): readonly NamedTool[] => {
    for (const one of servers)
      for (const tool of one.tools) {
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
    status: (): readonly ServerStatus[] =>
      servers.map((one) => ({
        ...one.status(),
        changed: one.tools.filter(({ tool, hash }) => options.consent.known(one.server, tool) !== hash)
          .length,
      })),
    /** The tools of all servers that have connected so far, in order of arrival. */
    tools,
    /** Resolves when every server has connected or failed; never rejects. */
    async settled(): Promise<void> {
      await Promise.all(servers.map((one) => one.settled()));
    },
    async call(
      name: string,
      input: Readonly<Record<string, unknown>>,
      given: CallToolOptions,
    ): Promise<ServerResult> {
      // Names are assigned when a tool is first listed.
      tools();
      const place = names.placeOf(name);
      if (!place) throw new ToolError("UNKNOWN_TOOL", `there is no tool '${name}'`, { available: [] });
      const one = find(place.server);
      return ask(one, given.signal, (client) => {
        checkConsent(place.server, place.tool, one.tools, options.consent);
        return callTool(client, place.tool, input, given);
      });
    },
    /** The prompts of all servers that have connected so far. */
    prompts: () => servers.flatMap((one) => one.offers.prompts),
    /** The messages of a prompt, filled with these values. */
    prompt: async (
      server: string,
      prompt: string,
      values: Readonly<Record<string, string>>,
      signal: AbortSignal,
    ) => ask(find(server), signal, (client) => getPrompt(client, prompt, values, signal)),
    /** The resources of all servers that have connected so far. */
    resources: () => servers.flatMap((one) => one.offers.resources),
    /** Reads a resource, listed or not, such as one of a template. */
    read: async (server: string, uri: string, signal: AbortSignal) =>
      ask(find(server), signal, (client) => readResource(client, uri, signal)),
    /** Accepts the current definitions of a server. */
    async accept(server: string): Promise<number> {
      const one = find(server);
      await one.client();
      await options.consent.remember(server, one.tools);
      return one.tools.length;
    },
    /** The SDK's client of a server, for features without a method here, such as completion. */
    client: async (server: string) => find(server).client(),
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
}

/** Calls a connected server; an invalid answer is UPSTREAM_ERROR. */
async function ask<T>(
  server: Pick<Server, "server" | "client" | "status">,
  signal: AbortSignal,
  question: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await server.client();
  try {
    return await question(client);
  } catch (cause) {
    signal.throwIfAborted();
    if (await isUnauthorized(cause)) throw needsLogin(server.server, cause);
    if (cause instanceof ToolError) throw cause;
    const { state, reason } = server.status();
    // The SDK says only that the connection was closed.
    const why = state === "failed" && reason ? reason : messageOf(cause);
    throw new ToolError("UPSTREAM_ERROR", `the MCP server failed: ${why}`, {}, { cause });
  }
}
