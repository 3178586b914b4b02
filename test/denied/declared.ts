import { type AnyAction, type ArgumentKind, kindOfArgument } from "@octant/core";
import { z } from "zod";

/** A place in the input of an action that takes free text, and what it is declared to hold. */
export interface TextPlace {
  /** Keys from the input on; `*` is every item. */
  readonly path: readonly string[];
  readonly kind: ArgumentKind | undefined;
}

/** Every place of an action's input that accepts any string. */
export const textPlacesOf = ({ input }: AnyAction): readonly TextPlace[] => placesIn(input, [], undefined);

function placesIn(
  schema: z.core.$ZodType,
  path: readonly string[],
  outer: ArgumentKind | undefined,
): readonly TextPlace[] {
  const kind = outer ?? kindOfArgument(schema);
  const inside = (inner: z.core.$ZodType, ...keys: string[]) => placesIn(inner, [...path, ...keys], kind);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodReadonly)
    return inside(schema.def.innerType);
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return inside(schema.def.innerType);
  if (schema instanceof z.ZodPipe) return unique([...inside(schema.def.in), ...inside(schema.def.out)]);
  if (schema instanceof z.ZodUnion) return unique(schema.def.options.flatMap((option) => inside(option)));
  if (schema instanceof z.ZodArray) return inside(schema.def.element, "*");
  if (schema instanceof z.ZodRecord)
    return [...inside(schema.def.keyType, "(name)"), ...inside(schema.def.valueType, "*")];
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([name, inner]) => inside(inner, name));
  const isText =
    schema instanceof z.ZodString || schema instanceof z.ZodUnknown || schema instanceof z.ZodAny;
  return isText || kind ? [{ path, kind }] : [];
}

const unique = (places: readonly TextPlace[]): readonly TextPlace[] => [
  ...new Map(places.map((place) => [`${place.path.join(".")} ${place.kind}`, place])).values(),
];
