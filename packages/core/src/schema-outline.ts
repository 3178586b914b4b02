import type { JsonSchema } from "./schema.ts";

/** A part of a schema, as far as there is one. */
export type SchemaPart = JsonSchema | boolean | undefined;

/** The fields of objects, as `{start:{line,col?},end}`: far shorter than their schema. Empty without objects. */
export function outlineOf(part: SchemaPart): string {
  const outline = toOutline(part);
  return outline.includes("{") ? outline : "";
}

function toOutline(part: SchemaPart): string {
  if (typeof part !== "object") return "";
  const alternatives = part.anyOf ?? part.oneOf;
  if (alternatives) return [...new Set(alternatives.map(toOutline))].filter(Boolean).join("|");
  if (part.const !== undefined) return JSON.stringify(part.const);
  if (part.type === "array") return `[${toOutline(itemsOf(part))}]`;
  if (!part.properties) return "";
  const members = Object.entries(part.properties).map(([name, value]) => {
    const inside = toOutline(value);
    return `${name}${part.required?.includes(name) ? "" : "?"}${inside && `:${inside}`}`;
  });
  return `{${members.join(",")}}`;
}

export const itemsOf = ({ items }: JsonSchema): SchemaPart => (Array.isArray(items) ? undefined : items);
