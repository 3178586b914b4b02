import type { ToolDefinition } from "./api-client.ts";
import type { Conversation } from "./conversation.ts";
import type { Message, UserPart } from "./messages.ts";

/** A typical value for text and code; the providers' own counts replace it where known. */
const CHARS_PER_TOKEN = 3.6;
/** The cost of a picture of usual size. */
const IMAGE_TOKENS = 1_600;
const MESSAGE_TOKENS = 6;

/** An estimate that is rather too high than too low. */
export const estimateTokens = (text: string): number => Math.ceil(text.length / CHARS_PER_TOKEN);

export function messageTokens(message: Message): number {
  if (message.role === "user") return MESSAGE_TOKENS + partsTokens(message.content);
  if (message.role === "tool")
    return message.results.reduce((sum, { content }) => sum + MESSAGE_TOKENS + partsTokens(content), 0);
  return message.content.reduce((sum, part) => {
    if (part.type === "tool_call") return sum + MESSAGE_TOKENS + estimateTokens(part.name + part.arguments);
    if (part.type === "web_search") return sum + estimateTokens(JSON.stringify(part.native.data));
    return sum + estimateTokens(part.text);
  }, MESSAGE_TOKENS);
}

const partsTokens = (parts: readonly UserPart[]): number =>
  parts.reduce((sum, part) => sum + (part.type === "text" ? estimateTokens(part.text) : IMAGE_TOKENS), 0);

export const messagesTokens = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + messageTokens(message), 0);

/** The tokens of the part of every request before its messages. */
export const prefixTokens = (system: string, tools: readonly ToolDefinition[]): number =>
  estimateTokens(system) + estimateTokens(JSON.stringify(tools));

/** Some servers do not count, and some silently truncate a long prompt, so our estimate is the minimum. */
const GUESS_SHARE = 0.7;

/** The tokens of the next request: the provider's count of the last one, and an estimate for the messages since. */
export function contextTokens(conversation: Conversation): number {
  const { messages, contextTokens: counted, countedMessages, system, tools } = conversation;
  const guess = prefixTokens(system, tools) + messagesTokens(messages);
  if (counted === 0) return guess;
  return Math.ceil(Math.max(counted + messagesTokens(messages.slice(countedMessages)), guess * GUESS_SHARE));
}
