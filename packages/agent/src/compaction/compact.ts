import { type Message, textOf, textParts, type UserMessage } from "../messages.ts";
import { messagesTokens } from "../tokens.ts";

/** Stands for the result of a call that was left out. */
export const COMPACTED = "[compacted]";

export interface CompactOptions {
  /** Turns at the end that stay as they are; a turn is an answer with the results of its calls. */
  readonly reserve_recent: number;
  /** What is known for certain about what is left out. */
  readonly ledger: string;
  /** In the model's words; without it the messages themselves are cut short. */
  readonly summary?: string;
}

export interface CompactionResult {
  readonly messages: readonly Message[];
  /** Messages that the summary stands for. */
  readonly compacted_count: number;
  readonly tokens_saved: number;
}

/**
 * Puts one message with ledger and summary in the place of everything but the last turns. The last request of the
 * person stays word for word, and a call is never parted from its result. Undefined when that saves nothing.
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
  const toResult = (summary: string): CompactionResult => {
    const made = [toSummary(options.ledger, summary), ...(request ? [request] : []), ...recent];
    return { messages: made, compacted_count: cut, tokens_saved: before - messagesTokens(made) };
  };
  const result = toResult(options.summary ?? toDigest(range));
  if (result.tokens_saved > 0) return result;
  const bare = toResult("");
  return bare.tokens_saved > 0 ? bare : undefined;
}

/** Where the last turns begin. */
export function findCut(messages: readonly Message[], reserveRecent: number): number {
  let turns = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    if (messages[at]?.role !== "assistant") continue;
    turns += 1;
    // What the person said just before belongs to the turn.
    if (turns === reserveRecent) return messages[at - 1]?.role === "user" ? at - 1 : at;
  }
  return reserveRecent === 0 ? endOfCalls(messages) : 0;
}

/** With no turn kept, what the person said after the last answer stays. */
function endOfCalls(messages: readonly Message[]): number {
  const last = messages.findLastIndex(({ role }) => role !== "user");
  return last + 1;
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

/** The messages, each cut to a line, without the results of calls; the oldest are dropped when there are too many. */
export function toDigest(messages: readonly Message[]): string {
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

/** The same messages with every result of a call left out: what a model summarises when all of it does not fit. */
export const withoutResults = (messages: readonly Message[]): readonly Message[] =>
  messages.map((message) =>
    message.role === "tool"
      ? {
          ...message,
          results: message.results.map((result) => ({ ...result, content: textParts(COMPACTED) })),
        }
      : message,
  );
