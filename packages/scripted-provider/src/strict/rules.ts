import { createHash } from "node:crypto";
import type { ScriptedRequest } from "../script.ts";

export type Json = Readonly<Record<string, unknown>>;

/** The parts of a request besides its body. */
export type Sent = Pick<ScriptedRequest, "path" | "headers">;

/** A request that the real API answers with 400 and this message. */
export class Refused extends Error {}

export function refuse(message: string): never {
  throw new Refused(message);
}

export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);
export const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const objectOf = (value: unknown): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined; // Checked.

/** The signature of a thinking block: an API recognises its own, and notices a change of what was signed. */
export const signatureOf = (signed: string): string => createHash("sha256").update(signed).digest("base64");

/** Whether a text in the body has half of a surrogate pair; JSON carries it, the real parsers refuse it. */
export function hasLoneSurrogate(value: unknown): boolean {
  if (typeof value === "string") return !value.isWellFormed();
  return typeof value === "object" && value !== null && Object.values(value).some(hasLoneSurrogate);
}

export const firstDuplicate = (values: readonly string[]): string | undefined =>
  values.find((value, at) => values.indexOf(value) !== at);

/** The problem with the JSON Schema of a tool's input, in the words of both OpenAI APIs. */
export function schemaProblem(schema: unknown): string | undefined {
  const top = objectOf(schema);
  if (top?.["type"] !== "object")
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(top?.["type"] ?? "None")}"'.`;
  if (COMBINATORS.some((word) => word in top))
    return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
  const at = arrayWithoutItems(top, []);
  return at && `In context=(${at.map((word) => `'${word}'`).join(", ")}), array schema missing items.`;
}

export const COMBINATORS = ["oneOf", "anyOf", "allOf", "enum", "not"] as const;

function arrayWithoutItems(schema: unknown, path: readonly string[]): readonly string[] | undefined {
  const node = objectOf(schema);
  if (!node) return undefined;
  if (node["type"] === "array" && !("items" in node) && !("prefixItems" in node)) return path;
  for (const [name, inner] of Object.entries(objectOf(node["properties"]) ?? {})) {
    const found = arrayWithoutItems(inner, [...path, "properties", name]);
    if (found) return found;
  }
  return arrayWithoutItems(node["items"], [...path, "items"]);
}
