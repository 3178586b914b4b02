import { z } from "zod";
import { type ArgumentKind, kindOfArgument, ofKind } from "./argument-kinds.ts";

/** Where a schema declares content of a kind: `files`, then every item (null), then `uri`. */
export interface ArgumentPlace {
  readonly kind: ArgumentKind;
  readonly keys: readonly (string | null)[];
}

/** The declared places in a schema. */
export function placesIn(
  schema: z.core.$ZodType,
  keys: ArgumentPlace["keys"] = [],
): readonly ArgumentPlace[] {
  const kind = kindOfArgument(schema);
  if (kind) return [{ kind, keys }];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodReadonly)
    return placesIn(schema.def.innerType, keys);
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return placesIn(schema.def.innerType, keys);
  if (schema instanceof z.ZodPipe)
    return [...placesIn(schema.def.in, keys), ...placesIn(schema.def.out, keys)];
  if (schema instanceof z.ZodUnion) return schema.def.options.flatMap((option) => placesIn(option, keys));
  if (schema instanceof z.ZodArray) return placesIn(schema.def.element, [...keys, null]);
  if (schema instanceof z.ZodRecord) return placesIn(schema.def.valueType, [...keys, null]);
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([name, inner]) => placesIn(inner, [...keys, name]));
  return [];
}

/** A schema of any value that declares these places, for a tool whose own schemas are in another process. */
export function withPlaces(places: readonly ArgumentPlace[]): z.ZodType {
  const here = places.filter(({ keys }) => keys.length === 0);
  const inner = places.filter(({ keys }) => keys.length > 0);
  const items = inner.filter(({ keys }) => keys[0] === null).map(withoutFirst);
  const names = [...new Set(inner.flatMap(({ keys }) => keys[0] ?? []))];
  const shape = names.map((name) => [
    name,
    withPlaces(inner.filter(({ keys }) => keys[0] === name).map(withoutFirst)).optional(),
  ]);
  return z.union([
    ...here.map(({ kind }) => ofKind(kind, z.union([z.string(), z.array(z.string())]))),
    ...(items.length > 0
      ? [z.array(withPlaces(items)), z.record(z.string(), withPlaces(items))]
      : names.length > 0
        ? [z.looseObject(Object.fromEntries(shape))]
        : []),
    z.unknown(),
  ]);
}

const withoutFirst = ({ kind, keys }: ArgumentPlace): ArgumentPlace => ({ kind, keys: keys.slice(1) });
