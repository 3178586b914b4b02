import { parseJsonPath } from "./json-path.ts";
import { type MarkdownPage, toMarkdown } from "./markdown/index.ts";
import { type JsonReading, readJson } from "./read-json.ts";

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
  const path = work.select === undefined ? undefined : parseJsonPath(work.select);
  return readJson(work.text, path?.ok ? path.steps : undefined);
}
