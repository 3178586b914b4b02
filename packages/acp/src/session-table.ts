import { isAbsolute } from "node:path";
import {
  type AgentContext,
  type ClientCapabilities,
  type McpServer,
  RequestError,
} from "@agentclientprotocol/sdk";
import type { AcpHost, ClientMcpServer } from "@octant/app";
import { ToolError } from "@octant/core";
import { EditorSession, type OpenOptions } from "./session.ts";

export interface SessionRequest {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly McpServer[];
  /** The session to continue; a new one when absent. */
  readonly sessionId?: string;
}

export interface SessionTableOptions {
  readonly host: AcpHost;
  readonly editorTerminals?: boolean;
  readonly remote?: boolean;
}

export type SessionTable = ReturnType<typeof createSessionTable>;

/** The sessions that one client has open. */
export function createSessionTable(options: SessionTableOptions) {
  const { host, editorTerminals = false, remote = false } = options;
  const sessions = new Map<string, EditorSession>();
  const close = async (id: string): Promise<void> => {
    const session = sessions.get(id);
    sessions.delete(id);
    await session?.close();
  };
  return {
    get: (id: string) => sessions.get(id),
    /** Throws for a session that is not open. */
    find(id: string): EditorSession {
      const session = sessions.get(id);
      if (session) return session;
      throw new RequestError(
        NOT_FOUND,
        `session '${id}' is not open; open it with session/load or session/resume`,
      );
    },
    async open(
      client: AgentContext,
      capabilities: ClientCapabilities,
      request: SessionRequest,
      more?: Pick<OpenOptions, "toDiff">,
    ) {
      const { sessionId, mcpServers = [], cwd, additionalDirectories = [] } = request;
      const roots = [cwd, ...additionalDirectories];
      const relative = roots.find((root) => !isAbsolute(root));
      if (relative !== undefined)
        throw RequestError.invalidParams(undefined, `'${relative}' is not an absolute path`);
      if (remote && mcpServers.length > 0)
        throw RequestError.invalidParams(undefined, "a remote client cannot bring MCP servers; send none");
      if (sessionId !== undefined) await close(sessionId);
      const session = await EditorSession.open(host, {
        roots,
        ...(sessionId !== undefined && { resume: sessionId }),
        mcpServers: mcpServers.map(toServer),
        client,
        capabilities,
        editorTerminals,
        ...more,
      });
      sessions.set(session.id, session);
      return session;
    },
    close,
    async closeAll() {
      await Promise.all([...sessions.keys()].map(close));
    },
  };
}

export async function setOption(session: EditorSession, id: string, value: unknown): Promise<void> {
  if (typeof value !== "string")
    throw RequestError.invalidParams(undefined, `option '${id}' takes one of its values`);
  if (id === "model") return session.setModel(value);
  if (id !== "mode")
    throw RequestError.invalidParams(undefined, `unknown option '${id}'; options: mode, model`);
  session.setMode(value);
  await session.update({ sessionUpdate: "current_mode_update", currentModeId: value });
}

interface SessionContext {
  readonly params: { readonly sessionId: string };
}

/** The methods that are the same in both wire versions. */
export const createSessionMethods = (host: AcpHost, sessions: SessionTable) => ({
  list: orExplain(({ params }: { readonly params: ListRequest }) => listSessions(host, params)),
  delete: orExplain(async ({ params: { sessionId } }: SessionContext) => {
    await sessions.close(sessionId);
    await host.remove(sessionId);
    return {};
  }),
  close: orExplain(async ({ params: { sessionId } }: SessionContext) => {
    sessions.find(sessionId);
    await sessions.close(sessionId);
    return {};
  }),
  cancel: ({ params }: SessionContext) => sessions.get(params.sessionId)?.cancel(),
});

/** For the list of authentication methods. */
export const CREDENTIALS = {
  name: "Credentials of a model provider",
  description: "Run octant login, or set a key such as ANTHROPIC_API_KEY for the agent's process.",
};

const PAGE_SESSIONS = 100;

interface ListRequest {
  readonly cwd?: string | null;
  readonly cursor?: string | null;
}

async function listSessions(host: AcpHost, { cwd, cursor }: ListRequest) {
  const all = (await host.list()).filter((one) => cwd == null || one.cwd === cwd);
  const from = cursor == null ? 0 : all.findIndex(({ session_id }) => session_id === cursor) + 1;
  if (cursor != null && from === 0)
    throw RequestError.invalidParams(undefined, `unknown cursor '${cursor}'; list again without one`);
  const page = all.slice(from, from + PAGE_SESSIONS);
  return {
    sessions: page.map(({ session_id, cwd, title, updated_at }) => ({
      sessionId: session_id,
      cwd,
      title,
      updatedAt: updated_at,
    })),
    ...(from + page.length < all.length && { nextCursor: page.at(-1)?.session_id }),
  };
}

function toServer(server: McpServer): ClientMcpServer {
  const toRecord = (pairs: readonly { readonly name: string; readonly value: string }[]) =>
    Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
  if ("command" in server)
    return { name: server.name, command: server.command, args: server.args, env: toRecord(server.env) };
  return { name: server.name, type: server.type, url: server.url, headers: toRecord(server.headers) };
}

const NOT_FOUND = -32_002;

/** Replies with a protocol error where there is one for the error of a tool or the store. */
export function orExplain<C, R>(handle: (context: C) => R | Promise<R>): (context: C) => Promise<R> {
  return async (context) => {
    try {
      return await handle(context);
    } catch (cause) {
      if (cause instanceof RequestError || !(cause instanceof ToolError)) throw cause;
      const { code, message } = cause;
      if (code === "UNAUTHENTICATED") throw RequestError.authRequired(undefined, message);
      if (code === "NOT_FOUND") throw new RequestError(NOT_FOUND, message);
      if (code === "INVALID_ARGUMENT" || code === "NOT_A_DIRECTORY")
        throw RequestError.invalidParams(undefined, message);
      throw RequestError.internalError({ code }, message);
    }
  };
}
