import type { JsonSchema } from "@octant/core";
import { attempt } from "@octant/core";
import { UsageError } from "./command.ts";

/** `fs.read` names an action, `fs` a tool only. */
export function parseName(called: string): { readonly tool: string; readonly action: string | undefined } {
  const dot = called.indexOf(".");
  return dot < 0
    ? { tool: called, action: undefined }
    : { tool: called.slice(0, dot), action: called.slice(dot + 1) };
}

const HINT = "write key=value, key=@file, key=@- for stdin, or all of it as one JSON object";

/**
 * Builds the input of an action from command-line words. The schema decides how a value is parsed; the
 * dispatcher validates it, so that every edge reports the same message.
 */
export function parseCallArguments(
  words: readonly string[],
  schema: JsonSchema,
  readText: (source: string) => string,
): Record<string, unknown> {
  const [first] = words;
  if (words.length === 1 && first?.startsWith("{")) return parseObject(first);
  const texts = new Map<string, string[]>();
  for (const word of words) {
    const { key, text } = parseWord(word, readText);
    texts.set(key, [...(texts.get(key) ?? []), text]);
  }
  return Object.fromEntries(
    [...texts].map(([key, given]) => [key, toValue(key, given, propertyOf(schema, key))]),
  );
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(
      `the arguments are not valid JSON: ${cause instanceof Error ? cause.message : ""}`,
      HINT,
    );
  }
}

function parseWord(word: string, readText: (source: string) => string) {
  const at = word.indexOf("=");
  if (at < 1) throw new UsageError(`'${word}' is not key=value`, HINT);
  const key = word.slice(0, at);
  const text = word.slice(at + 1);
  // A value that really begins with @ is written with @@.
  if (text.startsWith("@@")) return { key, text: text.slice(1) };
  return { key, text: text.startsWith("@") ? readText(text.slice(1)) : text };
}

function toValue(key: string, texts: readonly string[], schema: JsonSchema): unknown {
  const types = typesOf(schema);
  const items = () => texts.map((text) => fromText(text, typesOf(itemsOf(schema))));
  if (texts.length > 1) {
    if (!types.has("array"))
      throw new UsageError(`${key} is given ${texts.length} times and takes one value`, HINT);
    return items();
  }
  const value = fromText(texts[0] ?? "", types);
  return types.has("array") && !types.has("string") && !Array.isArray(value) ? items() : value;
}

/** A string stays a string unless the schema allows another type that fits. */
function fromText(text: string, types: ReadonlySet<string>): unknown {
  if (types.size === 1 && types.has("string")) return text;
  const parsed = parseJson(text);
  if (parsed === undefined || (types.has("string") && !types.has(typeOf(parsed)))) return text;
  return parsed;
}

const parseJson = (text: string): unknown => attempt(() => JSON.parse(text));

const typeOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

/** An integer counts as a number; an empty set means any type. */
function typesOf(schema: JsonSchema): Set<string> {
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts) return new Set(parts.flatMap((part) => (typeof part === "object" ? [...typesOf(part)] : [])));
  const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  if (values.length > 0) return new Set(values.map(typeOf));
  return new Set([schema.type ?? []].flat().map((type) => (type === "integer" ? "number" : type)));
}

function propertyOf(schema: JsonSchema, key: string): JsonSchema {
  const property = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
  return typeof property === "object" ? property : {};
}

function itemsOf(schema: JsonSchema): JsonSchema {
  const list = [schema, ...(schema.anyOf ?? schema.oneOf ?? [])].find(
    (part) => typeof part === "object" && part.items !== undefined,
  );
  const items = typeof list === "object" ? list.items : undefined;
  return typeof items === "object" && !Array.isArray(items) ? items : {};
}
