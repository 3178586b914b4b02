import { type AnyAction, type ArgumentKind, kindOfArgument } from "@octant/core";
import { z } from "zod";

/** The path of a value in the input: `files`, then every item, then `uri`. */
interface Place {
  readonly kind: ArgumentKind;
  readonly keys: readonly (string | typeof EVERY)[];
}

const EVERY = Symbol("every item");

export interface HeldValue {
  readonly kind: ArgumentKind;
  /** The argument that it was found in. */
  readonly argument: string;
  /** Undefined when the argument was left out. */
  readonly value: unknown;
}

/** The declared contents of an action's arguments. */
export type Declaration = ReturnType<typeof toDeclaration>;

/** Reads declarations from input schemas, each once; undefined for input of any shape, as of a foreign tool. */
export function createDeclarations(): (action: AnyAction | undefined) => Declaration | undefined {
  const known = new WeakMap<AnyAction, Declaration>();
  return (action) => {
    if (!action || isLoose(action.input)) return undefined;
    const declaration = known.get(action) ?? toDeclaration(action.input);
    known.set(action, declaration);
    return declaration;
  };
}

const isLoose = ({ def }: z.ZodObject): boolean =>
  def.catchall !== undefined && !(def.catchall instanceof z.ZodNever);

function toDeclaration(input: z.ZodObject) {
  const found = Object.entries(input.shape).flatMap(([name, schema]) => {
    const inside = placesIn(schema, [name]);
    const byName = BY_NAME.find((one) => one === name);
    return inside.length === 0 && byName ? [{ kind: byName, keys: [name] }] : inside;
  });
  // One or a list of the same: the list is looked at as a whole.
  const places = found.filter((place) => !found.some((other) => isListOf(place, other)));
  const byArgument = new Map(places.map(({ keys, kind }) => [keys[0], kind]));
  return {
    kindOf: (argument: string): ArgumentKind | undefined => byArgument.get(argument),
    valuesIn: (given: Readonly<Record<string, unknown>>): readonly HeldValue[] =>
      places.flatMap(({ kind, keys }) =>
        valuesAt(given, keys).map((value) => ({ kind, argument: String(keys[0]), value })),
      ),
  };
}

const isListOf = (list: Place, item: Place): boolean =>
  list.kind === item.kind &&
  list.keys.length === item.keys.length + 1 &&
  list.keys.at(-1) === EVERY &&
  item.keys.every((key, index) => key === list.keys[index]);

/** Arguments of these names are subject to the condition of that name, declared or not. */
const BY_NAME = ["path", "command", "host"] as const;

function placesIn(schema: z.core.$ZodType, keys: Place["keys"]): readonly Place[] {
  const kind = kindOfArgument(schema);
  if (kind) return [{ kind, keys }];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodReadonly)
    return placesIn(schema.def.innerType, keys);
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return placesIn(schema.def.innerType, keys);
  if (schema instanceof z.ZodPipe)
    return [...placesIn(schema.def.in, keys), ...placesIn(schema.def.out, keys)];
  if (schema instanceof z.ZodUnion) return schema.def.options.flatMap((option) => placesIn(option, keys));
  if (schema instanceof z.ZodArray) return placesIn(schema.def.element, [...keys, EVERY]);
  if (schema instanceof z.ZodRecord) return placesIn(schema.def.valueType, [...keys, EVERY]);
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([name, inner]) => placesIn(inner, [...keys, name]));
  return [];
}

function valuesAt(value: unknown, keys: Place["keys"]): readonly unknown[] {
  const [key, ...rest] = keys;
  if (key === undefined) return [value];
  if (value === undefined) return [undefined];
  if (typeof value !== "object" || value === null) return [];
  if (key === EVERY) return Object.values(value).flatMap((item) => valuesAt(item, rest));
  return valuesAt(Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined, rest);
}
