import { type Message, textOf, textParts, type UserMessage } from "../messages.ts";
import { messagesTokens } from "../tokens.ts";

/** Replaces the result of a call that was left out. */
export const COMPACTED = "[compacted]";

export interface CompactOptions {
  /** Turns at the end that are preserved; a turn is an answer with the results of its calls. */
  readonly reserve_recent: number;
  /** The recorded facts about the omitted messages. */
  readonly ledger: string;
  /** In the model's words; without it the messages themselves are shortened. */
  readonly summary?: string;
}

export interface CompactionResult {
  readonly messages: readonly Message[];
  /** The number of messages that the summary replaces. */
  readonly compacted_count: number;
  readonly tokens_saved: number;
  /** The turns at the end that stay as they are, and their tokens. */
  readonly kept: { readonly turns: number; readonly tokens: number };
}

/**
 * Replaces everything but the last turns by one message with ledger and summary. The person's last request is
 * preserved verbatim, and a call is never separated from its result. undefined when that saves nothing.
 */
export function compactMessages(
  messages: readonly Message[],
  options: CompactOptions,
): CompactionResult | undefined {
  const cut = findCut(messages, options.reserve_recent);
  const range = messages.slice(0, cut);
  const recent = messages.slice(cut);
  if (range.length === 0) return undefined;
  const request = recent.some(isRequest) ? undefined : range.findLast(isRequest);
  const before = messagesTokens(messages);
  const turns = recent.filter(({ role }) => role === "assistant").length;
  const kept = { turns, tokens: messagesTokens(recent) };
  const toResult = (summary: string): CompactionResult => {
    const made = [toSummary(options.ledger, summary), ...(request ? [request] : []), ...recent];
    return { messages: made, compacted_count: cut, tokens_saved: before - messagesTokens(made), kept };
  };
  const result = toResult(options.summary ?? toDigest(range));
  if (result.tokens_saved > 0) return result;
  const bare = toResult("");
  return bare.tokens_saved > 0 ? bare : undefined;
}

/** The index at which the last turns begin. */
export function findCut(messages: readonly Message[], reserveRecent: number): number {
  let turns = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    if (messages[at]?.role !== "assistant") continue;
    turns += 1;
    // The person's message just before belongs to the turn.
    if (turns === reserveRecent) return messages[at - 1]?.role === "user" ? at - 1 : at;
  }
  // When no turn is preserved, the person's messages after the last answer are.
  return reserveRecent === 0 ? messages.findLastIndex(({ role }) => role !== "user") + 1 : 0;
}

const isRequest = (message: Message): message is UserMessage =>
  message.role === "user" && message.origin === "person";

const toSummary = (ledger: string, summary: string): UserMessage => ({
  role: "user",
  origin: "summary",
  content: textParts(
    [
      "The conversation so far was too long and is replaced by this record. The whole of it is kept in the session's log.",
      ledger,
      ...(summary === "" ? [] : [`# Summary\n${summary}`]),
    ]
      .filter((part) => part !== "")
      .join("\n\n"),
  ),
});

const MAX_LINE_CHARS = 300;
const MAX_DIGEST_CHARS = 12_000;

/**
 * The messages, each shortened to a line, without the results of calls; the oldest are dropped when there are too
 * many.
 */
function toDigest(messages: readonly Message[]): string {
  const lines = messages.flatMap((message): string[] => {
    if (message.role === "user")
      return message.origin === "summary" ? [] : [`- ${message.origin}: ${toLine(textOf(message.content))}`];
    if (message.role === "tool")
      return message.results.map(
        ({ name, is_error }) => `- result of ${name}${is_error ? " (failed)" : ""}: ${COMPACTED}`,
      );
    return message.content.flatMap((part) => {
      if (part.type === "tool_call") return [`- call ${part.name} ${toLine(part.arguments)}`];
      return part.type === "text" ? [`- answer: ${toLine(part.text)}`] : [];
    });
  });
  let length = 0;
  const kept = lines.reverse().filter((line) => {
    length += line.length + 1;
    return length <= MAX_DIGEST_CHARS;
  });
  return kept.reverse().join("\n");
}

function toLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS).toWellFormed()}…` : line;
}

/** The same messages without the results of calls: the input for a summary when the whole does not fit. */
export const withoutResults = (messages: readonly Message[]): readonly Message[] =>
  messages.map((message) =>
    message.role === "tool"
      ? {
          ...message,
          results: message.results.map((result) => ({ ...result, content: textParts(COMPACTED) })),
        }
      : message,
  );
