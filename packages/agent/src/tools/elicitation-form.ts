import type { Elicitation, ElicitationAnswer } from "@octant/mcp-client";
import { z } from "zod";

export type Values = NonNullable<ElicitationAnswer["content"]>;
type Value = Values[string];

/** One value that a server asks for. */
export interface FormField {
  readonly name: string;
  /** What the person reads: its title, what fits, and what an empty answer means. */
  readonly question: string;
  /** The texts that fit, when the field lists them. */
  readonly choices: readonly string[] | undefined;
  /** The value that the server proposes. */
  readonly proposed: Value | undefined;
  readonly isRequired: boolean;
  /** The value of a text, or why it is invalid. */
  parse(text: string): { readonly value: Value | undefined } | { readonly problem: string };
}

/** The fields of a form in the server's order. Throws when a schema is not one that can be checked. */
export function fieldsOf(schema: Elicitation["schema"]): readonly FormField[] {
  const required: readonly unknown[] = Array.isArray(schema?.["required"]) ? schema["required"] : [];
  const properties = Object.entries<FieldSchema>(Object(schema?.["properties"]));
  return properties.map(([name, field]) => toField(name, field, required.includes(name)));
}

/** The parts of a field's JSON Schema that a person needs to know. */
interface FieldSchema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: Value;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly { readonly const: string }[];
  readonly items?: {
    readonly enum?: readonly string[];
    readonly anyOf?: readonly { readonly const: string }[];
  };
}

function toField(name: string, field: FieldSchema, isRequired: boolean): FormField {
  // zod checks the server's schema: it throws for an invalid JSON Schema.
  const checked = z.fromJSONSchema(field as Parameters<typeof z.fromJSONSchema>[0]);
  const { default: proposed } = field;
  return {
    name,
    question: toQuestion(name, field, isRequired),
    choices: field.type === "boolean" ? ["yes", "no"] : choicesOf(field),
    proposed,
    isRequired,
    parse(text) {
      if (text.trim() === "") {
        if (proposed !== undefined || !isRequired) return { value: proposed };
        return { problem: "this value is required" };
      }
      const { success, data, error } = checked.safeParse(toValue(text.trim(), field.type));
      // A value that passed the field's own schema has one of the types of a form.
      return success
        ? { value: data as Value }
        : { problem: error.issues.map(({ message }) => message).join("; ") };
    },
  };
}

/** Whether a client filled in the form as its schema says. */
export const isFilledIn = (schema: Elicitation["schema"], content: Values | undefined): boolean =>
  schema === undefined ||
  // The schema is a server's; zod throws for one that is not a JSON Schema.
  z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(content ?? {}).success;

const choicesOf = ({ enum: listed, oneOf }: FieldSchema): readonly string[] | undefined =>
  listed ?? oneOf?.map((one) => one.const);

function toQuestion(name: string, field: FieldSchema, isRequired: boolean): string {
  const { title = name, description, default: proposed } = field;
  const choices = choicesOf(field);
  const items = field.items?.enum ?? field.items?.anyOf?.map((one) => one.const);
  const fits = choices
    ? `one of ${choices.join(", ")}`
    : items
      ? `any of ${items.join(", ")}, separated by commas`
      : field.type === "boolean"
        ? "yes or no"
        : (field.type ?? "text");
  const empty =
    proposed !== undefined
      ? `empty: ${Array.isArray(proposed) ? proposed.join(", ") : proposed}`
      : isRequired
        ? "required"
        : "empty: left out";
  return `${title}${description === undefined ? "" : `: ${description}`} (${fits}; ${empty})`;
}

function toValue(text: string, type: string | undefined): unknown {
  if (type === "number" || type === "integer") return Number(text);
  if (type === "array") return text.split(",").map((item) => item.trim());
  if (type !== "boolean") return text;
  if (/^(y|yes|true)$/i.test(text)) return true;
  return /^(n|no|false)$/i.test(text) ? false : text;
}
