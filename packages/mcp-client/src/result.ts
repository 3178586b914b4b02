import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { toPlainText } from "./definitions.ts";

/** Longer text is cut in the middle: it would fill the model's context. */
const MAX_RESULT_CHARS = 32 * 1024;
const MAX_IMAGE_BASE64_CHARS = 5 * 1024 * 1024;

export type ResultPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly mime: string; readonly data: string };

export interface ServerResult {
  readonly content: readonly ResultPart[];
  readonly is_error: boolean;
}

/** The part of an answer that a model gets: plain text within a budget, and pictures. */
export function toServerResult({
  content = [],
  structuredContent,
  isError = false,
}: CallToolResult): ServerResult {
  const parts = [...toParts(content)];
  const isEmpty = parts.every((part) => part.type === "text" && part.text === "");
  if (isEmpty && structuredContent !== undefined)
    parts.push({ type: "text", text: JSON.stringify(structuredContent) });
  return { content: withinBudget(parts), is_error: isError };
}

export const toParts = (content: readonly ContentBlock[]): readonly ResultPart[] => content.map(toPart);

function toPart(block: ContentBlock): ResultPart {
  switch (block.type) {
    case "text":
      return { type: "text", text: toPlainText(block.text) };
    case "image":
      return block.data.length > MAX_IMAGE_BASE64_CHARS
        ? { type: "text", text: `[a picture of ${block.data.length} base64 characters is left out]` }
        : { type: "image", mime: block.mimeType, data: block.data };
    case "resource":
      return "text" in block.resource
        ? { type: "text", text: toPlainText(block.resource.text) }
        : { type: "text", text: `[binary resource ${toPlainText(block.resource.uri)}]` };
    case "resource_link":
      return { type: "text", text: `[resource ${toPlainText(block.uri)}: ${toPlainText(block.name)}]` };
    case "audio":
      return { type: "text", text: `[audio of ${block.data.length} base64 characters is left out]` };
    default:
      return { type: "text", text: "[content of an unknown kind is left out]" };
  }
}

/** Cuts text in the middle; pictures stay. */
export function withinBudget(parts: readonly ResultPart[]): readonly ResultPart[] {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= MAX_RESULT_CHARS) return parts;
  const whole = texts.join("\n");
  const half = MAX_RESULT_CHARS / 2;
  const text = [
    whole.slice(0, half).toWellFormed(),
    `[${whole.length - MAX_RESULT_CHARS} characters left out; ask the tool for less]`,
    whole.slice(-half).toWellFormed(),
  ].join("\n");
  return [{ type: "text", text }, ...parts.filter((part) => part.type === "image")];
}
