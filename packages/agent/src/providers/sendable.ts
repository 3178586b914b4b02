import { hash } from "node:crypto";
import { type Fields, isFields } from "@octant/core";
import {
  type AssistantPart,
  type Message,
  type ToolCallPart,
  type ToolResultPart,
  textParts,
  type UserPart,
} from "../messages.ts";
import { parseArguments } from "../run-calls.ts";

/** The image types that every provider reads. */
const IMAGES: readonly string[] = ["image/png", "image/jpeg", "image/webp"];
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/**
 * The message with only what every provider accepts; undefined when nothing of it is left. A log may hold more: names,
 * ids and arguments as a model wrote them, images of any kind, an answer that was cut off. One such part would make
 * the provider refuse every later request of the session.
 */
export function toSendable(message: Message): Message | undefined {
  if (message.role === "tool") return { ...message, results: message.results.map(toResult) };
  if (message.role === "user") {
    const content = toUserParts(message.content);
    return { ...message, content: content.length === 0 ? textParts("[an empty message]") : content };
  }
  const said = message.content.filter(isSaid);
  // Thinking belongs to the part after it; where the answer was cut off, there is none.
  const content = said.slice(0, said.findLastIndex(({ type }) => type !== "thinking") + 1);
  return content.length === 0 ? undefined : { ...message, content: content.map(toAssistantPart) };
}

/** Providers refuse empty text, unless it carries their signature. */
const isSaid = (part: AssistantPart | UserPart): boolean =>
  part.type !== "text" || part.text.trim() !== "" || part.native !== undefined;

const toUserParts = (content: readonly UserPart[]): readonly UserPart[] =>
  content.filter(isSaid).map((part) => {
    if (part.type === "text") return part;
    const bytes = Buffer.byteLength(part.data, "base64");
    if (IMAGES.includes(part.mime) && bytes <= MAX_IMAGE_BYTES) return part;
    return { type: "text", text: `[left out: an image of ${bytes} bytes as ${part.mime}]` };
  });

function toResult({ call_id, name, content, is_error }: ToolResultPart): ToolResultPart {
  const shown = toUserParts(content);
  return {
    call_id: toId(call_id),
    name: toName(name),
    content: is_error && shown.length === 0 ? textParts("failed") : shown,
    is_error,
  };
}

function toAssistantPart(part: AssistantPart): AssistantPart {
  if (part.type !== "tool_call") return part;
  return { ...part, id: toId(part.id), name: toName(part.name), arguments: toArguments(part) };
}

const ID = /^[A-Za-z0-9_-]{1,40}$/;
const HASH_CHARS = 32;

/** Different ids stay different. */
const toId = (id: string): string => (ID.test(id) ? id : `call_${hash("sha256", id).slice(0, HASH_CHARS)}`);

const MAX_NAME_CHARS = 64;

/** Models invent names; the result of the call reports that. */
function toName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, MAX_NAME_CHARS);
  return /^[A-Za-z_]/.test(safe) ? safe : `_${safe}`.slice(0, MAX_NAME_CHARS);
}

/** A JSON object, as the model wrote it where possible. The result of a call with others reports the error. */
function toArguments({ arguments: text }: ToolCallPart): string {
  if (text.trim() === "") return "{}";
  return parseArguments(text) instanceof Error ? JSON.stringify({ malformed_arguments: text }) : text;
}

/** Keywords that providers refuse at the top of a tool's schema; the tool itself still checks its input. */
const REFUSED_AT_TOP: readonly string[] = ["oneOf", "anyOf", "allOf", "enum", "not"];

/** The schema of a tool's input in a form that every provider accepts. */
export function toSendableSchema(schema: Fields): Fields {
  const kept = Object.entries(schema).filter(([word]) => !REFUSED_AT_TOP.includes(word));
  return { ...withItems(Object.fromEntries(kept)), type: "object" };
}

/** Lists without a schema of their items are refused. */
function withItems(schema: Fields): Fields {
  const { properties, items, type } = schema;
  const isList = type === "array" && items === undefined && schema["prefixItems"] === undefined;
  return {
    ...schema,
    ...(isFields(properties) && { properties: mapValues(properties) }),
    ...(isFields(items) && { items: withItems(items) }),
    ...(isList && { items: {} }),
  };
}

const mapValues = (properties: Fields): Fields =>
  Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [name, isFields(inner) ? withItems(inner) : inner]),
  );
