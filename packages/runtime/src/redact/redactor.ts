import { MIN_SECRET_CHARS, toForms } from "./forms.ts";
import { findShapes } from "./shapes.ts";
import { mergeSpans, type Span } from "./span.ts";

/** Takes secrets out of a text. Logs, audit and errors go through the same one. */
export type Redact = (text: string) => string;

export const REDACTED = "[redacted]";

export interface RedactorOptions {
  /** Values that must never be shown, as collectSecrets finds them; short ones are ignored. */
  readonly secrets: Iterable<string>;
}

/** Finds the given secrets, plain or encoded, and text in the shape of one. Takes time linear in the text. */
export function createRedactor({ secrets }: RedactorOptions): Redact {
  const known = [...secrets].filter((secret) => secret.length >= MIN_SECRET_CHARS);
  const forms = [...new Set(known.flatMap(toForms))];

  return (text) => {
    const spans = mergeSpans([...findShapes(text), ...forms.flatMap((form) => findAll(text, form))]);
    if (spans.length === 0) return text;
    const starts = [0, ...spans.map(({ end }) => end)];
    return starts.map((start, i) => text.slice(start, spans[i]?.start)).join(REDACTED);
  };
}

function findAll(text: string, form: string): Span[] {
  const spans: Span[] = [];
  // One step at a time: a secret may overlap itself.
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
    spans.push({ start: at, end: at + form.length });
  return spans;
}
