import type { AnswerRequest } from "../../../src/api.ts";

export interface Field {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly kind: "text" | "number" | "boolean" | "choice" | "many";
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly required: boolean;
  readonly initial: unknown;
}

/** The fields of a flat JSON Schema, as MCP allows it in questions. */
export function fieldsOf(schema: Readonly<Record<string, unknown>> | undefined): readonly Field[] {
  const { properties, required } = Object(schema);
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(Object(properties)).map(([name, given]): Field => {
    const part: Record<string, unknown> = Object(given);
    return {
      name,
      title: typeof part["title"] === "string" ? part["title"] : name,
      description: typeof part["description"] === "string" ? part["description"] : "",
      kind: kindOf(part),
      options: optionsOf(part),
      required: needed.includes(name),
      initial: part["default"],
    };
  });
}

function kindOf(part: Record<string, unknown>): Field["kind"] {
  if (part["type"] === "array") return "many";
  if (part["enum"] || part["oneOf"]) return "choice";
  if (part["type"] === "boolean") return "boolean";
  return part["type"] === "number" || part["type"] === "integer" ? "number" : "text";
}

function optionsOf(part: Record<string, unknown>): Field["options"] {
  const source = part["type"] === "array" ? Object(part["items"]) : part;
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

/** What the server takes; empty fields are left out. */
export function toContent(
  fields: readonly Field[],
  values: Readonly<Record<string, unknown>>,
): NonNullable<AnswerRequest["content"]> {
  return Object.fromEntries(
    fields.flatMap(({ name, kind }): [string, string | number | boolean | string[]][] => {
      const value = values[name];
      if (kind === "boolean") return [[name, value === true]];
      if (value === undefined || value === "") return [];
      if (kind === "number") return [[name, Number(value)]];
      return [[name, kind === "many" && Array.isArray(value) ? value.map(String) : String(value)]];
    }),
  );
}
