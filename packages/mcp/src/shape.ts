import { itemsOf, outlineOf, type SchemaPart } from "@octant/core";

/** The type of a parameter in the shortest form that a client can use. */
export interface Shape {
  /** Empty means anything. */
  readonly types: readonly string[];
  /** Set when all valid strings are known. */
  readonly values: readonly string[] | undefined;
  readonly itemTypes: readonly string[];
  /** The structure of objects, as `{start:{line,col?},end}`: far shorter than nested schemas. */
  readonly outline: string | undefined;
}

const ANYTHING: Shape = { types: [], values: undefined, itemTypes: [], outline: undefined };

/** Drops limits, patterns and defaults; the action `schema` has the strict schema. */
export function toShape(part: SchemaPart): Shape {
  if (typeof part !== "object") return ANYTHING;
  const alternatives = part.anyOf ?? part.oneOf;
  if (alternatives) return alternatives.map(toShape).reduce(eitherOf);
  if (part.const !== undefined) return ofValues([part.const]);
  if (part.enum) return ofValues(part.enum);
  if (part.type === undefined) return ANYTHING;
  return {
    ...ANYTHING,
    types: [part.type].flat(),
    itemTypes: part.type === "array" ? toShape(itemsOf(part)).types : [],
    outline: outlineOf(part) || undefined,
  };
}

/** Merges two shapes of one name; undefined when a value of one would be misread as the other. */
export function mergeShapes(a: Shape, b: Shape): Shape | undefined {
  const bothArrays = a.types.includes("array") && b.types.includes("array");
  if (bothArrays && a.itemTypes.join() !== b.itemTypes.join()) return undefined;
  if (a.outline !== undefined && b.outline !== undefined && a.outline !== b.outline) return undefined;
  return eitherOf(a, b);
}

function eitherOf(a: Shape, b: Shape): Shape {
  if (a.types.length === 0 || b.types.length === 0) return ANYTHING;
  const anyString = [a, b].some((one) => one.types.includes("string") && one.values === undefined);
  const values = [...new Set([...(a.values ?? []), ...(b.values ?? [])])];
  const outlines = [a.outline, b.outline].filter((outline) => outline !== undefined);
  return {
    types: withoutNarrowNumber([...new Set([...a.types, ...b.types])]),
    values: anyString || values.length === 0 ? undefined : values,
    itemTypes: [...new Set([...a.itemTypes, ...b.itemTypes])],
    outline: [...new Set(outlines)].join("|") || undefined,
  };
}

function ofValues(values: readonly unknown[]): Shape {
  const types = values.map((value) => (value === null ? "null" : typeof value));
  const strings = values.filter((value) => typeof value === "string");
  // Some clients accept only string enums, so a literal true is just a boolean here.
  return { ...ANYTHING, types: [...new Set(types)], values: strings.length > 0 ? strings : undefined };
}

const withoutNarrowNumber = (types: readonly string[]) =>
  types.includes("number") ? types.filter((type) => type !== "integer") : types;
