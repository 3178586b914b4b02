import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import type * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import type { FileDiff, ModelChoice, SessionCommand } from "@octant/app";
import { type SessionSettings, toConfigOptions } from "../settings.ts";

/**
 * The unions of version 2 are open, so the compiler cannot tell which member a value is. The tests validate every
 * message against the published schema.
 */
export const known = <T>(value: object): T => value as T;

const CHUNKS = ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"] as const;
type Chunk = Extract<SessionUpdate, { sessionUpdate: (typeof CHUNKS)[number] }>;
const isChunk = (update: SessionUpdate): update is Chunk =>
  CHUNKS.some((kind) => kind === update.sessionUpdate);

/** Converts the updates of a session, in order, to version 2. Updates that it has no form for are dropped. */
export function createUpdatesV2(newId: () => string): (update: SessionUpdate) => readonly v2.SessionUpdate[] {
  /** The message that the next chunk of this kind belongs to. */
  let message: { readonly kind: Chunk["sessionUpdate"]; readonly id: string } | undefined;
  return (update) => {
    if (isChunk(update)) {
      const { sessionUpdate, content } = update;
      if (message?.kind !== sessionUpdate) message = { kind: sessionUpdate, id: newId() };
      return [known({ sessionUpdate, messageId: message.id, content })];
    }
    message = undefined;
    switch (update.sessionUpdate) {
      case "tool_call":
      case "tool_call_update":
        return [known({ ...update, sessionUpdate: "tool_call_update", content: toContent(update.content) })];
      case "plan":
        return [
          { sessionUpdate: "plan_update", plan: { type: "items", planId: "plan", entries: update.entries } },
        ];
      case "session_info_update":
      case "usage_update":
        return [update];
      default:
        // Modes are options in version 2, and options and commands are sent where they are set.
        return [];
    }
  };
}

/** Terminals of the client are not in version 2; a diff is already in its form, see `toDiffV2`. */
const toContent = (content: readonly ToolCallContent[] | null | undefined) =>
  content?.filter(({ type }) => type !== "terminal");

/** It travels through the updates of version 1, which do not look into it. */
export const toDiffV2 = ({ operation, path, patch }: FileDiff): ToolCallContent =>
  known({
    type: "diff",
    changes: [{ operation, path }],
    patch: { format: "git_patch", text: patch() },
  });

export const toOptionsV2 = (
  settings: SessionSettings,
  models: readonly ModelChoice[],
): v2.SessionConfigOption[] =>
  toConfigOptions(settings, models).map(({ id, ...option }) => known({ ...option, configId: id }));

export const toCommandsV2 = (commands: readonly SessionCommand[]): v2.AvailableCommand[] =>
  commands.map(({ name, description, hint }) => ({
    type: "command",
    name,
    description,
    ...(hint !== undefined && { input: { type: "text", hint } }),
  }));
