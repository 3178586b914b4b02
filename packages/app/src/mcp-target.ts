import { type Envelope, type JsonSchema, ToolError } from "@octant/core";
import { createMcpServers } from "@octant/mcp-client";
import { type CallTarget, type ServerClient, toServerTarget } from "./call-target.ts";
import { loadVersion } from "./version.ts";

export interface McpTargetOptions {
  readonly url: string;
  /** Sent as Authorization: Bearer. */
  readonly token?: string | undefined;
  /** Paths are shown relative to it. */
  readonly rootUri: string;
}

const SERVER = "server";
const CALL_MS = 24 * 3_600_000;

/** The tools of an Octant server, such as a hub, over MCP. */
export function openMcpTarget({ url, token, rootUri }: McpTargetOptions): CallTarget {
  const servers = createMcpServers({
    servers: { [SERVER]: { url, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } } },
    version: loadVersion(),
    roots: [],
    start: () => Promise.reject(new Error("it has no program")),
    // Nothing of the tools' descriptions is used.
    consent: { known: () => undefined, remember: async () => {} },
    log: () => {},
  });
  const dispatch: ServerClient["dispatch"] = async ({ tool, action, input }, { signal, onProgress }) => {
    const client = await servers.client(SERVER).catch((cause: unknown) => {
      const isRefused = cause instanceof ToolError && cause.code === "UNAUTHENTICATED";
      throw isRefused ? new ToolError("UNAUTHENTICATED", noToken(url), {}, { cause }) : cause;
    });
    const { structuredContent } = await client.callTool(
      { name: tool, arguments: { action, ...Object(input) } },
      {
        timeout: CALL_MS,
        ...(signal && { signal }),
        ...(onProgress && { onprogress: onProgress }),
      },
    );
    const envelope: unknown = structuredContent;
    if (!isEnvelope(envelope))
      throw new ToolError("UPSTREAM_ERROR", `${url} is not an Octant server: its answer has no envelope`, {});
    return { envelope, attachments: [] };
  };
  const inputSchema = async (tool: string, action: string): Promise<JsonSchema> => {
    const { envelope } = await dispatch({ tool, action: "schema", input: { about: action } }, {});
    // The built-in action `schema` answers so; an unknown tool or action has none.
    const { actions = {} } = Object(envelope.data) as { actions?: Record<string, { input?: JsonSchema }> };
    return (Object.hasOwn(actions, action) && actions[action]?.input) || {};
  };
  return toServerTarget({ dispatch, inputSchema, close: () => servers.close() }, rootUri);
}

const noToken = (url: string): string =>
  `${url} needs a token that it knows; set the environment variable OCTANT_TOKEN`;

const isEnvelope = (value: unknown): value is Envelope =>
  typeof value === "object" && value !== null && "ok" in value && "meta" in value;
