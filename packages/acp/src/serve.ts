import { Readable, Writable } from "node:stream";
import {
  type AgentContext,
  agent,
  type ClientCapabilities,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type Stream,
} from "@agentclientprotocol/sdk";
import { agentProtocolRouter } from "@agentclientprotocol/sdk/experimental/v2";
import type { AcpHost } from "@octant/app";
import type { EditorSession } from "./session.ts";
import {
  CREDENTIALS,
  createSessionMethods,
  createSessionTable,
  orExplain,
  type SessionRequest,
  type SessionTable,
  setOption,
} from "./session-table.ts";
import { toConfigOptions, toModeState } from "./settings.ts";
import { createAgentV2 } from "./v2/agent.ts";

export interface AcpOptions {
  readonly host: AcpHost;
  readonly stream: Stream;
  /** Allows commands to run in the client's terminal, outside the sandbox. */
  readonly editorTerminals?: boolean;
  /** Offers the draft of wire version 2 too; a client that asks for version 1 gets that. */
  readonly draftV2?: boolean;
  /** The client is on another machine, so its files, terminals and MCP servers are not used. */
  readonly remote?: boolean;
}

export interface AcpServer {
  /** Resolves when the client has disconnected and everything is closed. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Serves one client of the Agent Client Protocol. */
export function serveAcp(options: AcpOptions): AcpServer {
  const { host, stream, draftV2 = false } = options;
  const sessions = createSessionTable(options);
  const stopped = Promise.withResolvers<void>();
  let disconnect = () => {};
  const remember = (connection: { close(): void }) => {
    disconnect = () => connection.close();
  };
  const v1 = createAgentV1(options, sessions).onConnect(remember);
  const { closed } = draftV2
    ? agentProtocolRouter()
        .withV1(v1)
        .withV2(createAgentV2(host, sessions).onConnect(remember))
        .connect(stream)
    : v1.connect(stream);
  return {
    closed: Promise.race([closed, stopped.promise]).then(sessions.closeAll),
    close() {
      disconnect();
      // Until the client has chosen a version, there is nothing to disconnect.
      stopped.resolve();
    },
  };
}

/** Wire version 1. */
function createAgentV1({ host, remote = false }: AcpOptions, sessions: SessionTable) {
  let capabilities: ClientCapabilities = {};
  const { find } = sessions;
  const shared = createSessionMethods(host, sessions);
  const announce = (session: EditorSession) => setImmediate(() => void session.tellCommands());
  const describe = ({ settings, models }: EditorSession) => ({
    modes: toModeState(settings),
    configOptions: toConfigOptions(settings, models),
  });
  const open = async (
    { params, client }: { readonly params: SessionRequest; readonly client: AgentContext },
    { replay = false } = {},
  ) => {
    const session = await sessions.open(client, capabilities, params);
    if (replay) await session.replay();
    announce(session);
    return session;
  };

  return agent({ name: "octant" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      const { session = null, elicitation = null, ...local } = params.clientCapabilities ?? {};
      const shown = { session, elicitation };
      capabilities = remote ? shown : { ...shown, ...local };
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: "octant", title: "Octant", version: host.version },
        authMethods: [{ id: "credentials", ...CREDENTIALS }],
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
      orExplain(async (context) => {
        const session = await open(context);
        return { sessionId: session.id, ...describe(session) };
      }),
    )
    .onRequest(
      methods.agent.session.load,
      orExplain(async (context) => describe(await open(context, { replay: true }))),
    )
    .onRequest(
      methods.agent.session.resume,
      orExplain(async (context) => describe(await open(context))),
    )
    .onRequest(methods.agent.session.list, shared.list)
    .onRequest(methods.agent.session.delete, shared.delete)
    .onRequest(methods.agent.session.close, shared.close)
    .onNotification(methods.agent.session.cancel, shared.cancel)
    .onRequest(
      methods.agent.session.prompt,
      orExplain(({ params, signal }) => find(params.sessionId).prompt(params.prompt, signal)),
    )
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
}

/** One JSON-RPC message per line, as editors send it. */
export const lineStream = (input: Readable, output: Writable): Stream =>
  // Node's web streams are the DOM's; only the type names differ.
  ndJsonStream(
    Writable.toWeb(output) as WritableStream<Uint8Array>,
    Readable.toWeb(input) as ReadableStream<Uint8Array>,
  );
