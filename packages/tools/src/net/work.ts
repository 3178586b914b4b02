import { isDeeperThan, parseJsonPath, selectJson } from "./json-path.ts";
import { type MarkdownPage, toMarkdown } from "./markdown/index.ts";

/** Work on a body that may be big: plain data, so that another thread can do it. */
export type Work =
  | { readonly kind: "markdown"; readonly text: string; readonly url: string }
  | { readonly kind: "json"; readonly text: string; readonly select: string | undefined };

export interface WorkResults {
  readonly markdown: MarkdownPage;
  readonly json: JsonReading;
}

export function perform(work: Work): WorkResults[Work["kind"]] {
  if (work.kind === "markdown") return toMarkdown(work.text, work.url);
  return readJson(work.text, work.select);
}

/** The result of parsing JSON: a value and its text, or the reason for the failure. */
export type JsonReading =
  | { readonly kind: "value"; readonly value: unknown; readonly text: string }
  | { readonly kind: "no_json" | "too_deep" | "missing" };

/** Deeper than any hand-made document, and shallow enough for every later reader. */
const MAX_DEPTH = 200;

function readJson(text: string, select: string | undefined): JsonReading {
  if (isDeeperThan(text, MAX_DEPTH)) return { kind: "too_deep" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "no_json" };
  }
  const path = select === undefined ? undefined : parseJsonPath(select);
  if (!path) return { kind: "value", value, text };
  const selected = selectJson(value, path);
  if (!selected.found) return { kind: "missing" };
  return { kind: "value", value: selected.value, text: JSON.stringify(selected.value) };
}
