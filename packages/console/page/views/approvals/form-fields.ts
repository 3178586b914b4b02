import type { AnswerRequest } from "../../../src/api.ts";

type Schema = Readonly<Record<string, unknown>>;

/** One value that a form asks for, as the page shows it. */
export interface FormField {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly kind: "text" | "number" | "boolean" | "choice" | "many";
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly required: boolean;
  readonly initial: unknown;
  /** Attributes that the browser checks before the form is sent; the server checks everything. */
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** The fields of a flat JSON Schema, as MCP allows it in questions. */
export function fieldsOf(schema: Schema | undefined): readonly FormField[] {
  const { properties, required } = Object(schema);
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(Object(properties)).map(([name, given]): FormField => {
    const part: Schema = Object(given);
    const kind = kindOf(part);
    return {
      name,
      title: typeof part["title"] === "string" ? part["title"] : name,
      description: typeof part["description"] === "string" ? part["description"] : "",
      kind,
      options: optionsOf(part),
      required: needed.includes(name),
      initial: part["default"],
      attributes: kind === "number" ? numberAttributes(part) : kind === "text" ? textAttributes(part) : {},
    };
  });
}

function kindOf(part: Schema): FormField["kind"] {
  if (part["type"] === "array") return "many";
  if (part["enum"] || part["oneOf"]) return "choice";
  if (part["type"] === "boolean") return "boolean";
  return part["type"] === "number" || part["type"] === "integer" ? "number" : "text";
}

function optionsOf(part: Schema): FormField["options"] {
  const source: Schema = part["type"] === "array" ? Object(part["items"]) : part;
  const titled = source["oneOf"] ?? source["anyOf"];
  if (Array.isArray(titled))
    return titled.map((one) => ({
      value: String(Object(one).const),
      label: String(Object(one).title ?? Object(one).const),
    }));
  const names = source["enumNames"];
  const values: readonly unknown[] = Array.isArray(source["enum"]) ? source["enum"] : [];
  return values.map((value, i) => ({
    value: String(value),
    label: String(Array.isArray(names) ? (names[i] ?? value) : value),
  }));
}

const numberAttributes = (part: Schema): FormField["attributes"] => ({
  type: "number",
  step: part["type"] === "integer" ? 1 : "any",
  ...numbersIn(part, { minimum: "min", maximum: "max" }),
});

/** Patterns of other programs are never run here: one that takes too long would stop the page. */
const textAttributes = (part: Schema): FormField["attributes"] => ({
  type: INPUT_TYPES.get(String(part["format"])) ?? "text",
  ...numbersIn(part, { minLength: "minLength", maxLength: "maxLength" }),
});

const DATE_TIME = "datetime-local";
const INPUT_TYPES = new Map([
  ["email", "email"],
  ["uri", "url"],
  ["date", "date"],
  ["date-time", DATE_TIME],
]);

const numbersIn = (part: Schema, names: Readonly<Record<string, string>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(names).flatMap(([from, to]) => {
      const value = part[from];
      return typeof value === "number" ? [[to, value]] : [];
    }),
  );

/** The values in the form that the server takes; empty fields are left out. */
export function toContent(
  fields: readonly FormField[],
  values: Readonly<Record<string, unknown>>,
): NonNullable<AnswerRequest["content"]> {
  return Object.fromEntries(
    fields.flatMap(({ name, kind, attributes }): [string, string | number | boolean | string[]][] => {
      const value = values[name];
      if (kind === "boolean") return [[name, value === true]];
      if (value === undefined || value === "") return [];
      if (kind === "number") return [[name, Number(value)]];
      if (kind === "many") return [[name, Array.isArray(value) ? value.map(String) : [String(value)]]];
      // The browser gives a local time without a zone.
      if (attributes["type"] === DATE_TIME) return [[name, new Date(String(value)).toISOString()]];
      return [[name, String(value)]];
    }),
  );
}
