import type { Delta } from "./api-client.ts";
import type { AssistantMessage, AssistantPart, Message, WebSearchPart } from "./messages.ts";
import { toolCallsOf } from "./messages.ts";

/** Whether the provider's server paused while it searched: the answer continues when it is sent back unchanged. */
export const isPausedSearch = (answer: {
  readonly stop: string;
  readonly message: AssistantMessage;
}): boolean =>
  answer.stop === "pause" &&
  toolCallsOf(answer.message).length === 0 &&
  answer.message.content.some(isSearch);

/** Without searches that have no result: providers accept those only while the answer continues. */
export function withoutUnanswered(message: AssistantMessage): AssistantMessage {
  const answered = idsOf([message], ({ done }) => done);
  return keep(message, ({ search_id }) => answered.has(search_id));
}

/** Without results whose question is in none of the messages, such as one that was compacted. */
export function withoutUnasked(messages: readonly Message[]): Message[] {
  const asked = idsOf(messages, ({ done, queries }) => !done || queries.length > 0);
  return messages.map((message) =>
    message.role === "assistant" ? keep(message, ({ search_id }) => asked.has(search_id)) : message,
  );
}

/**
 * The parts for an API: all of them where it searches itself, otherwise none of its searches, nor the thinking that
 * led to them, which some APIs refuse alone.
 */
export function forSearching(
  content: readonly AssistantPart[],
  api: string | undefined,
): readonly AssistantPart[] {
  const isForeign = (part: AssistantPart | undefined) =>
    part?.type === "web_search" && part.native.api !== api;
  return content.filter(
    (part, at) => !isForeign(part) && !(part.type === "thinking" && isForeign(content[at + 1])),
  );
}

/** The part for display. */
export const toSearchDelta = ({ native: _, ...shown }: WebSearchPart): Delta => shown;

/** The queries and the sources found, one on each line. */
export const searchLines = ({
  queries,
  sources,
  error,
}: Omit<WebSearchPart, "type" | "native">): readonly string[] => [
  ...queries.map((query) => `searched the web: ${query}`),
  ...sources.map(({ title, url }) => (title === "" ? url : `${title} ${url}`)),
  ...(error === undefined ? [] : [`the search failed: ${error}`]),
];

const isSearch = (part: AssistantPart): part is WebSearchPart => part.type === "web_search";

const idsOf = (messages: readonly Message[], fits: (part: WebSearchPart) => boolean): ReadonlySet<string> =>
  new Set(
    messages
      .flatMap((message) => (message.role === "assistant" ? message.content.filter(isSearch) : []))
      .filter(fits)
      .map(({ search_id }) => search_id),
  );

/** The message with only the searches that fit; the same object when all do. */
function keep(message: AssistantMessage, fits: (part: WebSearchPart) => boolean): AssistantMessage {
  const content = message.content.filter((part) => !isSearch(part) || fits(part));
  return content.length === message.content.length ? message : { ...message, content };
}
