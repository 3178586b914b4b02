import { setImmediate as nextTurn } from "node:timers/promises";
import type { StampedEvent } from "../events.ts";
import { textOf } from "../messages.ts";
import type { SessionStore } from "./session-store.ts";

/** A match in the log of a session. */
export interface SessionMatch {
  readonly session_id: string;
  readonly seq: number;
  readonly who: "person" | "model" | "tool";
  readonly snippet: string;
  /** The share of the words that match, plus a little for other wordings and for the exact phrase. */
  readonly score: number;
}

export interface SearchSessionsOptions {
  readonly query: string;
  /** The question in other words. */
  readonly also?: readonly string[];
  readonly limit: number;
  readonly signal: AbortSignal;
}

const SNIPPET_CHARS = 500;
const PHRASE_BONUS = 0.5;
const ALSO_WEIGHT = 0.5;

/** Searches everything ever said, including messages removed by compaction. Best first, then newest first. */
export async function searchSessions(
  store: Pick<SessionStore, "list" | "events">,
  { query, also = [], limit, signal }: SearchSessionsOptions,
): Promise<readonly SessionMatch[]> {
  const phrase = query.toLowerCase().trim();
  const words = wordsOf(phrase);
  const otherWords = wordsOf(also.join(" ").toLowerCase()).filter((word) => !words.includes(word));
  const matches: SessionMatch[] = [];
  for (const { session_id } of await store.list()) {
    await nextTurn();
    for await (const event of store.events(session_id)) {
      signal.throwIfAborted();
      const said = saidIn(event);
      if (!said) continue;
      const lower = said.text.toLowerCase();
      const isThere = (word: string) => lower.includes(word);
      const [asked, others] = [words.filter(isThere), otherWords.filter(isThere)];
      const there = [...asked, ...others];
      if (there.length === 0) continue;
      const score =
        asked.length / words.length +
        (ALSO_WEIGHT * others.length) / (otherWords.length || 1) +
        (isThere(phrase) ? PHRASE_BONUS : 0);
      const { seq } = event;
      matches.push({
        session_id,
        seq,
        who: said.who,
        snippet: around(said.text, lower, phrase, there),
        score,
      });
    }
  }
  return matches
    .sort((a, b) => b.score - a.score || b.session_id.localeCompare(a.session_id) || b.seq - a.seq)
    .slice(0, limit);
}

const wordsOf = (text: string): string[] => [...new Set(text.match(/[\p{L}\p{N}_]+/gu) ?? [])];

function saidIn(
  event: StampedEvent,
): { readonly who: SessionMatch["who"]; readonly text: string } | undefined {
  switch (event.type) {
    case "user":
      return event.origin === "person" ? { who: "person", text: textOf(event.content) } : undefined;
    case "message":
      return { who: "model", text: textOf(event.message.content) };
    case "tool_ended":
      return { who: "tool", text: textOf(event.content) };
    default:
      return undefined;
  }
}

/** The text around the phrase, or around its first word. */
function around(text: string, lower: string, phrase: string, words: readonly string[]): string {
  const at = [phrase, ...words].map((one) => lower.indexOf(one)).find((found) => found >= 0) ?? 0;
  const from = Math.max(0, at - SNIPPET_CHARS / 4);
  const cut = text
    .slice(from, from + SNIPPET_CHARS)
    .toWellFormed()
    .trim();
  return `${from > 0 ? "…" : ""}${cut}${from + SNIPPET_CHARS < text.length ? "…" : ""}`;
}
