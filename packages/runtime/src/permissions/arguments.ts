import { type AnyAction, type ArgumentKind, type ArgumentPlace, placesIn } from "@octant/core";
import { z } from "zod";

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

const isListOf = (list: ArgumentPlace, item: ArgumentPlace): boolean =>
  list.kind === item.kind &&
  list.keys.length === item.keys.length + 1 &&
  list.keys.at(-1) === null &&
  item.keys.every((key, index) => key === list.keys[index]);

/** Arguments of these names are subject to the condition of that name, declared or not. */
const BY_NAME = ["path", "command", "host"] as const;

function valuesAt(value: unknown, keys: ArgumentPlace["keys"]): readonly unknown[] {
  const [key, ...rest] = keys;
  if (key === undefined) return [value];
  if (value === undefined) return [undefined];
  if (typeof value !== "object" || value === null) return [];
  if (key === null) return Object.values(value).flatMap((item) => valuesAt(item, rest));
  return valuesAt(Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined, rest);
}
