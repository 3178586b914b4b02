import { randomUUID } from "node:crypto";
import type {
  AgentContext as AgentContextV1,
  ContentBlock as ContentBlockV1,
  McpServer,
  RequestPermissionRequest,
  SessionNotification,
} from "@agentclientprotocol/sdk";
import {
  type AgentApp,
  type AgentContext,
  agent,
  assertSupportedMcpServers,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type SendRequestOptions,
} from "@agentclientprotocol/sdk/experimental/v2";
import type { AcpHost } from "@octant/app";
import { toUserParts } from "../content.ts";
import type { EditorSession } from "../session.ts";
import {
  CREDENTIALS,
  createSessionMethods,
  orExplain,
  type SessionRequest,
  type SessionTable,
  setOption,
} from "../session-table.ts";
import { createUpdatesV2, known, toCommandsV2, toDiffV2, toOptionsV2 } from "./to-v2.ts";

const MCP = { stdio: {} };

/**
 * The draft of wire version 2, on the sessions of version 1: prompts are acknowledged, their end is an update, and a
 * prompt during another one steers it. Files and terminals of the client are not part of it.
 */
export function createAgentV2(host: AcpHost, sessions: SessionTable): AgentApp {
  const { find } = sessions;
  const shared = createSessionMethods(host, sessions);
  const describe = ({ settings, models, commands }: EditorSession) => ({
    configOptions: toOptionsV2(settings, models),
    availableCommands: toCommandsV2(commands),
  });
  const open = (
    client: AgentContext,
    params: Omit<SessionRequest, "mcpServers"> & { mcpServers?: unknown },
  ) =>
    // Both versions describe a server on stdio alike; others were refused.
    sessions.open(
      asV1(client),
      {},
      { ...params, mcpServers: (params.mcpServers ?? []) as McpServer[] },
      {
        toDiff: toDiffV2,
      },
    );

  return agent({ name: "octant" })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      info: { name: "octant", title: "Octant", version: host.version },
      authMethods: [{ type: "agent", methodId: "credentials", ...CREDENTIALS }],
      capabilities: {
        session: {
          prompt: { image: {}, embeddedContext: {} },
          mcp: MCP,
          delete: {},
          additionalDirectories: {},
        },
      },
    }))
    .onRequest(
      methods.agent.auth.login,
      orExplain(async () => {
        await host.checkCredentials();
        return {};
      }),
    )
    .onRequest(
      methods.agent.session.new,
      orExplain(async ({ params, client }) => {
        assertSupportedMcpServers(params.mcpServers, MCP);
        const session = await open(client, params);
        return { sessionId: session.id, ...describe(session) };
      }),
    )
    .onRequest(
      methods.agent.session.resume,
      orExplain(async ({ params, client }) => {
        assertSupportedMcpServers(params.mcpServers, MCP);
        const { replayFrom } = params;
        if (replayFrom && replayFrom.type !== "start")
          throw RequestError.invalidParams(
            undefined,
            `replay from '${replayFrom.type}' is not supported; use start`,
          );
        const session = await open(client, params);
        if (replayFrom) await session.replay();
        await sendState(client, session.id, { state: "idle" });
        return describe(session);
      }),
    )
    .onRequest(methods.agent.session.list, shared.list)
    .onRequest(methods.agent.session.delete, shared.delete)
    .onRequest(methods.agent.session.close, shared.close)
    .onNotification(methods.agent.session.cancel, shared.cancel)
    .onRequest(
      methods.agent.session.setConfigOption,
      orExplain(async ({ params }) => {
        const session = find(params.sessionId);
        await setOption(session, params.configId, params.value);
        return { configOptions: toOptionsV2(session.settings, session.models) };
      }),
    )
    .onRequest(
      methods.agent.session.prompt,
      orExplain(async ({ params, client }) => {
        const session = find(params.sessionId);
        // Blocks that version 1 does not know are refused here, before any update mentions them.
        const blocks = params.prompt as ContentBlockV1[];
        toUserParts(blocks);
        const messageId = newMessageId();
        await client.notify(methods.client.session.update, {
          sessionId: session.id,
          update: { sessionUpdate: "user_message", messageId, content: params.prompt },
        });
        if (!session.steer(blocks)) void runPrompt(session, blocks, client);
        return { messageId };
      }),
    );
}

/** From "running" to "idle"; a failure is reported there, because the prompt was already answered. */
async function runPrompt(session: EditorSession, blocks: readonly ContentBlockV1[], client: AgentContext) {
  await sendState(client, session.id, { state: "running" });
  const end = await session.prompt(blocks, new AbortController().signal).then(
    ({ stopReason }) => ({ stopReason }) as const,
    (cause) => ({
      stopReason: "error" as const,
      error: { code: -32_603, message: cause instanceof Error ? cause.message : "the run failed" },
    }),
  );
  await sendState(client, session.id, { state: "idle", ...end });
}

type State =
  | { readonly state: "running" | "requires_action" }
  | {
      readonly state: "idle";
      readonly stopReason?: string;
      readonly error?: { readonly code: number; readonly message: string };
    };

/** A disconnected client reads nothing; the end of its connection closes the session. */
const sendState = (client: AgentContext, sessionId: string, state: State): Promise<void> =>
  client
    .notify(methods.client.session.update, {
      sessionId,
      update: known({ sessionUpdate: "state_update", ...state }),
    })
    .catch(() => {});

const newMessageId = () => `msg_${randomUUID()}`;

/** The client as a session of version 1 sees it: it is sent updates and asked for permission, nothing else. */
function asV1(client: AgentContext): AgentContextV1 {
  const toUpdates = createUpdatesV2(newMessageId);
  const adapter = {
    async notify(_method: string, { sessionId, update }: SessionNotification) {
      for (const one of toUpdates(update))
        await client.notify(methods.client.session.update, { sessionId, update: one });
    },
    async request(
      _method: string,
      { sessionId, toolCall, options }: RequestPermissionRequest,
      sending: SendRequestOptions,
    ) {
      const [asked] = toUpdates({ sessionUpdate: "tool_call_update", ...toolCall });
      await sendState(client, sessionId, { state: "requires_action" });
      const answer = await client.request(
        methods.client.session.requestPermission,
        {
          sessionId,
          title: toolCall.title ?? "Permission",
          subject: known({ type: "tool_call", toolCall: asked ?? {} }),
          options,
        },
        sending,
      );
      await sendState(client, sessionId, { state: "running" });
      return answer;
    },
  };
  // Sessions use these two methods when the client has neither files nor terminals.
  return adapter as unknown as AgentContextV1;
}
