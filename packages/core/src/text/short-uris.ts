import { z } from "zod";
import { kindOfArgument } from "../argument-kinds.ts";
import type { Envelope } from "../envelope.ts";
import { ownAction } from "../lookup.ts";
import type { Registry } from "../registry.ts";

/** Writes the same envelope shorter. */
export type Shorten = (envelope: Envelope) => Envelope;

/**
 * In a list whose rows have a uri, one below the first root becomes its path from there, and `meta.base` is the root.
 * Actions take that path as it is, and as a relative reference to the base it is the whole uri. A name that the two
 * would read differently keeps its uri, as does everything in another root.
 */
export function createShorten(registry: Pick<Registry, "get">, [first]: readonly string[]): Shorten {
  if (first === undefined) return (envelope) => envelope;
  const base = `${first.replace(/\/$/, "")}/`;
  const toShort = (row: unknown) => {
    if (!isRecord(row) || typeof row["uri"] !== "string" || !row["uri"].startsWith(base)) return row;
    const path = row["uri"].slice(base.length);
    return PLAIN_PATH.test(path) ? { ...row, uri: path } : row;
  };
  return (envelope) => {
    const { data, meta } = envelope;
    if (!envelope.ok || !isRecord(data)) return envelope;
    const tool = registry.get(meta.tool);
    const lists = listsIn((tool && ownAction(tool, meta.action))?.output).filter((name) =>
      Array.isArray(data[name]),
    );
    if (lists.length === 0) return envelope;
    const short = Object.fromEntries(lists.map((name) => [name, [data[name]].flat().map(toShort)]));
    return { ...envelope, data: { ...data, ...short }, meta: { ...meta, base } };
  };
}

/** Nothing that a URI escapes, and neither a scheme nor the home folder at its start. */
const PLAIN_PATH = /^(?!~)[A-Za-z0-9\-._~!$&'()*+,;=@/]+$/;

/** The names of the lists of an answer whose rows are about files. */
function listsIn(output: z.core.$ZodType | undefined): readonly string[] {
  if (!(output instanceof z.ZodObject)) return [];
  return Object.entries(output.shape).flatMap(([name, schema]) => {
    const list = unwrapped(schema);
    const row = list instanceof z.ZodArray ? list.element : undefined;
    const uri: z.core.$ZodType | undefined = row instanceof z.ZodObject ? row.shape["uri"] : undefined;
    return uri !== undefined && kindOfArgument(unwrapped(uri)) === "path" ? [name] : [];
  });
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodReadonly;
  return isWrapper ? unwrapped(schema.def.innerType) : schema;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
