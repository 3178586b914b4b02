import type { AnyAction } from "@octant/core";
import type { z } from "zod";
import { type TextPlace, textPlacesOf } from "./declared.ts";

/**
 * Inputs of an action: its examples, each with one place replaced by one of the texts for it, and for an action that
 * writes the same with every switch turned on.
 */
export function inputsWith(
  act: AnyAction,
  textsFor: (place: TextPlace) => readonly unknown[],
): readonly object[] {
  const isValid = (input: unknown): input is object => act.input.safeParse(input).success;
  const bases = [...act.examples.map(({ input }) => input), {}];
  const attacks = textPlacesOf(act).flatMap((place) =>
    textsFor(place).map((text) =>
      bases.map((base) => withValue(base, place.path, text)).find((input) => isValid(input)),
    ),
  );
  const plain = [...bases, ...attacks].filter(isValid);
  const on = Object.fromEntries(switchesOf(act).map((name) => [name, true]));
  const switched = act.access === "read" ? [] : plain.map((one) => ({ ...one, ...on })).filter(isValid);
  const inputs = [...plain, ...switched];
  return [...new Map(inputs.map((input) => [JSON.stringify(input), input])).values()];
}

function switchesOf({ input }: AnyAction): readonly string[] {
  const shape: Readonly<Record<string, z.ZodType>> = input.shape;
  const accepts = (name: string, value: unknown) => shape[name]?.safeParse(value).success === true;
  return Object.keys(shape).filter((name) => accepts(name, true) && !accepts(name, "text"));
}

function withValue(input: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  if (key === "*") return [withValue(Array.isArray(input) ? input[0] : undefined, rest, value)];
  const record = typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
  return { ...record, [key]: withValue(Reflect.get(record, key), rest, value) };
}
