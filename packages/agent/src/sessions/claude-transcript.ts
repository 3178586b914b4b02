import { attempt } from "@octant/core";
import type { AssistantPart, Message, UserPart } from "../messages.ts";
import type { Session } from "../session.ts";
import { searchLines } from "../web-search.ts";

/** The conversation as the lines of JSON that hooks of Claude Code read. */
export const toClaudeTranscript = ({ id, conversation }: Pick<Session, "id" | "conversation">): string =>
  conversation.messages
    .map((message) => `${JSON.stringify({ ...toLine(message), sessionId: id })}\n`)
    .join("");

function toLine(message: Message) {
  if (message.role === "assistant")
    return { type: "assistant", message: { role: "assistant", content: message.content.map(toBlock) } };
  if (message.role === "user")
    return {
      type: "user",
      ...(message.origin !== "person" && { isMeta: true }),
      message: { role: "user", content: message.content.map(toBlock) },
    };
  const content = message.results.map(({ call_id, content, is_error }) => ({
    type: "tool_result",
    tool_use_id: call_id,
    is_error,
    content: content.map(toBlock),
  }));
  return { type: "user", message: { role: "user", content } };
}

function toBlock(part: UserPart | AssistantPart) {
  if (part.type === "text") return { type: "text", text: part.text };
  if (part.type === "thinking") return { type: "thinking", thinking: part.text };
  if (part.type === "image")
    return { type: "image", source: { type: "base64", media_type: part.mime, data: part.data } };
  if (part.type === "web_search") return { type: "text", text: searchLines(part).join("\n") };
  const input: unknown = attempt(() => JSON.parse(part.arguments)) ?? {};
  return { type: "tool_use", id: part.id, name: part.name, input };
}
