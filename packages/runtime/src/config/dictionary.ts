import { z } from "zod";

/** Names from outside and their values, on an object without a prototype: no name is special. */
export type Dictionary<T> = { readonly [name: string]: T };

export const emptyDictionary = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;

/** The fields of an unknown value; none if it is not an object. */
export const fieldsOf = (value: unknown): { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null ? { ...value } : {};

/** As `z.record`, but `__proto__` is a name like any other, where a record drops it. */
export function dictionary<V extends z.ZodType>(name: z.ZodType<string>, value: V) {
  return z
    .unknown()
    .transform((input, { issues }): Dictionary<z.output<V>> => {
      const output = emptyDictionary<z.output<V>>();
      if (typeof input !== "object" || input === null || Array.isArray(input)) {
        issues.push({ code: "invalid_type", expected: "object", input });
        return output;
      }
      for (const [key, given] of Object.entries(input)) {
        const named = name.safeParse(key);
        const parsed = value.safeParse(given);
        for (const issue of [...(named.error?.issues ?? []), ...(parsed.error?.issues ?? [])])
          issues.push({ ...issue, path: [key, ...issue.path], input: given });
        if (parsed.success) output[key] = parsed.data;
      }
      return output;
    })
    .meta({ [NAMES]: name, [VALUES]: value });
}

/** Describes dictionaries to z.toJSONSchema; for its option `override`. */
export function describeDictionary({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  const { [NAMES]: name, [VALUES]: value } = jsonSchema;
  if (!(name instanceof z.ZodType && value instanceof z.ZodType)) return;
  delete jsonSchema[NAMES];
  delete jsonSchema[VALUES];
  Object.assign(jsonSchema, {
    type: "object",
    propertyNames: toInnerSchema(name),
    additionalProperties: toInnerSchema(value),
  });
}

const NAMES = "dictionary_names";
const VALUES = "dictionary_values";

function toInnerSchema(schema: z.ZodType): object {
  const { $schema: _, ...inner } = z.toJSONSchema(schema, { io: "input", override: describeDictionary });
  return inner;
}
