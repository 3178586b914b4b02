import type { JsonSchema } from "../schema.ts";
import { itemsOf, outlineOf, type SchemaPart } from "../schema-outline.ts";

export interface FlatSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
}

/** Long enough for one short clause; the full text is in the action `schema`. */
const MAX_DESCRIPTION_CHARS = 60;

/** The strict input schema of each action. */
export type ActionSchemas = readonly (readonly [action: string, input: JsonSchema])[];

/**
 * One schema for all actions of a tool. Clients drop tools whose schema has a union at its root, so every
 * parameter is optional here. The signatures tell which action takes it; where it means something else in another
 * action, its description says in which.
 */
export function toFlatSchema(tool: string, names: readonly string[], actions: ActionSchemas): FlatSchema {
  const parameters = new Map<string, Use[]>();
  for (const [action, input] of actions) {
    for (const [name, property] of Object.entries(input.properties ?? {})) {
      const use = { action, shape: toShape(property), description: shorten(descriptionOf(property)) };
      parameters.set(name, [...(parameters.get(name) ?? []), use]);
    }
  }
  if (parameters.has("action")) throw new TypeError(`${tool}: no parameter can be called 'action'`);
  const properties = [...parameters].map(([name, uses]) => {
    const shape = shapeOfAll(`${tool}: parameter '${name}'`, uses);
    const text = [describe(uses, actions.length), shape.outline].filter(Boolean).join(" ");
    return [name, { ...toKeywords(shape), ...(text && { description: text }) }];
  });
  const action = { type: "string", enum: names };
  return {
    type: "object",
    properties: { action, ...Object.fromEntries(properties) },
    required: ["action"],
  };
}

/** `read(uri,range?) stat(uri)`: the parameters of each action, optional ones marked. */
export const toSignatures = (actions: ActionSchemas): string =>
  actions.map(([name, input]) => `${name}(${parameterList(input)})`).join(" ");

interface Use {
  readonly action: string;
  readonly shape: Shape;
  readonly description: string;
}

function shapeOfAll(where: string, uses: readonly Use[]): Shape {
  return uses
    .map(({ shape }) => shape)
    .reduce((merged, shape, index) => {
      const both = mergeShapes(merged, shape);
      if (both) return both;
      const before = uses.slice(0, index).map(({ action }) => action);
      throw new TypeError(
        `${where} means one thing in ${before.join(", ")} and another in ${uses[index]?.action}; rename one`,
      );
    });
}

/** An undescribed parameter stays empty: the signatures already name its actions. */
function describe(uses: readonly Use[], actionCount: number): string {
  const byText = Map.groupBy(uses, ({ description }) => description);
  return [...byText]
    .filter(([text]) => text !== "")
    .map(([text, group]) => {
      const isPlain = byText.size === 1 || group.length * 2 > actionCount;
      return isPlain ? text : `${group.map(({ action }) => action).join(",")}: ${text}`;
    })
    .join("; ");
}

function toKeywords({ types, values, itemTypes }: Shape) {
  return {
    ...(types.length > 0 && { type: oneOrList(types) }),
    ...(values && { enum: values }),
    // Some clients reject an array without items.
    ...(types.includes("array") && { items: itemTypes.length > 0 ? { type: oneOrList(itemTypes) } : {} }),
  };
}

const oneOrList = (types: readonly string[]) => (types.length === 1 ? types[0] : types);

const parameterList = ({ properties = {}, required = [] }: JsonSchema) =>
  Object.keys(properties)
    .map((name) => (required.includes(name) ? name : `${name}?`))
    .join(",");

const descriptionOf = (property: JsonSchema | boolean) =>
  (typeof property === "object" && property.description) || "";

function shorten(text: string): string {
  const [clause = ""] = text.split(/[.;](?:\s|$)/, 1);
  if (clause.length <= MAX_DESCRIPTION_CHARS) return clause;
  return clause.slice(0, clause.lastIndexOf(" ", MAX_DESCRIPTION_CHARS)).replace(/[\s,:(]+$/, "");
}

/** The type of a parameter in the shortest form that a client can use. */
interface Shape {
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
function toShape(part: SchemaPart): Shape {
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
function mergeShapes(a: Shape, b: Shape): Shape | undefined {
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
