import { isAbsolute } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  type AgentContext,
  agent,
  type ClientCapabilities,
  type McpServer,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type Stream,
} from "@agentclientprotocol/sdk";
import { ToolError } from "@octant/core";
import type { AcpHost, ClientMcpServer } from "./host.ts";
import { type EditorSession, openEditorSession } from "./session.ts";
import { toConfigOptions, toModeState } from "./settings.ts";

export interface AcpOptions {
  readonly host: AcpHost;
  readonly stream: Stream;
  /** Allows commands to run in the client's terminal, outside the sandbox. */
  readonly editorTerminals?: boolean;
  /** The client is on another machine, so its files, terminals and MCP servers are not used. */
  readonly remote?: boolean;
}

export interface AcpServer {
  /** Resolves when the client has disconnected and everything is closed. */
  readonly closed: Promise<void>;
  close(): void;
}

const PAGE_SESSIONS = 100;

/** Serves one client of the Agent Client Protocol, wire version 1. */
export function serveAcp(options: AcpOptions): AcpServer {
  const { host, stream, editorTerminals = false, remote = false } = options;
  const sessions = new Map<string, EditorSession>();
  let capabilities: ClientCapabilities = {};

  const find = (id: string): EditorSession => {
    const session = sessions.get(id);
    if (session) return session;
    throw new RequestError(
      NOT_FOUND,
      `session '${id}' is not open; open it with session/load or session/resume`,
    );
  };
  const closeSession = async (id: string): Promise<void> => {
    const session = sessions.get(id);
    sessions.delete(id);
    await session?.close();
  };
  const open = async (
    client: AgentContext,
    request: {
      readonly cwd: string;
      readonly additionalDirectories?: readonly string[];
      readonly mcpServers?: readonly McpServer[];
      readonly sessionId?: string;
    },
  ): Promise<EditorSession> => {
    const { sessionId, mcpServers = [], cwd, additionalDirectories = [] } = request;
    const roots = [cwd, ...additionalDirectories];
    const relative = roots.find((root) => !isAbsolute(root));
    if (relative !== undefined)
      throw RequestError.invalidParams(undefined, `'${relative}' is not an absolute path`);
    if (remote && mcpServers.length > 0)
      throw RequestError.invalidParams(undefined, "a remote client cannot bring MCP servers; send none");
    if (sessionId !== undefined) await closeSession(sessionId);
    const session = await openEditorSession(host, {
      roots,
      ...(sessionId !== undefined && { resume: sessionId }),
      mcpServers: mcpServers.map(toServer),
      client,
      capabilities,
      editorTerminals,
    });
    sessions.set(session.id, session);
    return session;
  };
  /** After the response: clients drop updates for a session that they do not know yet. */
  const announce = (session: EditorSession) =>
    setImmediate(
      () =>
        void session.update({
          sessionUpdate: "available_commands_update",
          availableCommands: session.commands.map(({ name, description, hint }) => ({
            name,
            description,
            ...(hint !== undefined && { input: { hint } }),
          })),
        }),
    );
  const describe = ({ settings, models }: EditorSession) => ({
    modes: toModeState(settings),
    configOptions: toConfigOptions(settings, models),
  });

  const app = agent({ name: "octant" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      const { session = null, ...local } = params.clientCapabilities ?? {};
      capabilities = remote ? { session } : { session, ...local };
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: "octant", title: "Octant", version: host.version },
        authMethods: [
          {
            id: "credentials",
            name: "Credentials of a model provider",
            description: "Run octant login, or set a key such as ANTHROPIC_API_KEY for the agent's process.",
          },
        ],
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true, audio: false },
          mcpCapabilities: { http: false, sse: false },
          sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, additionalDirectories: {} },
        },
      };
    })
    .onRequest(
      methods.agent.authenticate,
      orExplain(() => host.checkCredentials()),
    )
    .onRequest(
      methods.agent.session.new,
      orExplain(async ({ params, client }) => {
        const session = await open(client, params);
        announce(session);
        return { sessionId: session.id, ...describe(session) };
      }),
    )
    .onRequest(
      methods.agent.session.load,
      orExplain(async ({ params, client }) => {
        const session = await open(client, params);
        await session.replay();
        announce(session);
        return describe(session);
      }),
    )
    .onRequest(
      methods.agent.session.resume,
      orExplain(async ({ params, client }) => {
        const session = await open(client, params);
        announce(session);
        return describe(session);
      }),
    )
    .onRequest(
      methods.agent.session.list,
      orExplain(({ params }) => listSessions(host, params)),
    )
    .onRequest(
      methods.agent.session.delete,
      orExplain(async ({ params }) => {
        await closeSession(params.sessionId);
        await host.remove(params.sessionId);
      }),
    )
    .onRequest(
      methods.agent.session.close,
      orExplain(async ({ params }) => {
        find(params.sessionId);
        await closeSession(params.sessionId);
      }),
    )
    .onRequest(
      methods.agent.session.prompt,
      orExplain(({ params, signal }) => find(params.sessionId).prompt(params.prompt, signal)),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.get(params.sessionId)?.cancel())
    .onRequest(
      methods.agent.session.setMode,
      orExplain(async ({ params }) => {
        const session = find(params.sessionId);
        session.setMode(params.modeId);
        await session.update({
          sessionUpdate: "config_option_update",
          configOptions: toConfigOptions(session.settings, session.models),
        });
      }),
    )
    .onRequest(
      methods.agent.session.setConfigOption,
      orExplain(async ({ params }) => {
        const session = find(params.sessionId);
        await setOption(session, params.configId, params.value);
        return { configOptions: toConfigOptions(session.settings, session.models) };
      }),
    );

  const connection = app.connect(stream);
  const closed = connection.closed.then(async () => {
    await Promise.all([...sessions.keys()].map(closeSession));
  });
  return { closed, close: () => connection.close() };
}

/** One JSON-RPC message per line, as editors send it. */
export const lineStream = (input: Readable, output: Writable): Stream =>
  // Node's web streams are the DOM's; only the type names differ.
  ndJsonStream(
    Writable.toWeb(output) as WritableStream<Uint8Array>,
    Readable.toWeb(input) as ReadableStream<Uint8Array>,
  );

const NOT_FOUND = -32_002;

/** Replies with a protocol error where there is one for the error of a tool or the store. */
function orExplain<C, R>(handle: (context: C) => R | Promise<R>): (context: C) => Promise<R> {
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

async function setOption(session: EditorSession, id: string, value: unknown): Promise<void> {
  if (typeof value !== "string")
    throw RequestError.invalidParams(undefined, `option '${id}' takes one of its values`);
  if (id === "model") return session.setModel(value);
  if (id !== "mode")
    throw RequestError.invalidParams(undefined, `unknown option '${id}'; options: mode, model`);
  session.setMode(value);
  await session.update({ sessionUpdate: "current_mode_update", currentModeId: value });
}

function listSessions(
  host: AcpHost,
  { cwd, cursor }: { readonly cwd?: string | null; readonly cursor?: string | null },
) {
  const all = host.list().filter((one) => cwd == null || one.cwd === cwd);
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
