import type { Delta, StreamEvent } from "./api-client.ts";

type TextDelta = Extract<Delta, { readonly text: string }>;

const HIGH_SURROGATE = /[\ud800-\udbff]$/;

/**
 * Joins the halves of a character that a server has split between two deltas: strict readers of JSON refuse a line
 * with half a character. The deltas of each text, and of each call, are joined for themselves.
 */
export function createWholeCharacters(): (event: StreamEvent) => StreamEvent {
  const halves = new Map<string, string>();
  return (event) => {
    if (event.type === "retry") halves.clear();
    if (!isText(event)) return event;
    const key = event.type === "call_delta" ? event.call_id : event.type;
    const text = (halves.get(key) ?? "") + event.text;
    const [half = ""] = HIGH_SURROGATE.exec(text) ?? [];
    halves.set(key, half);
    return { ...event, text: text.slice(0, text.length - half.length).toWellFormed() };
  };
}

const isText = (event: StreamEvent): event is TextDelta =>
  event.type === "text_delta" || event.type === "thinking_delta" || event.type === "call_delta";
