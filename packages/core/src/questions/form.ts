import { z } from "zod";
import { invalidArgument } from "../errors.ts";
import type { Issue } from "../issues.ts";
import { matchPattern } from "./form-pattern.ts";
import type { FormBody, FormValues } from "./question.ts";

type Schema = FormBody["schema"];
type Value = FormValues[string];

/** One value that a form asks for. */
export interface FormField {
  readonly name: string;
  /** The text for the person: its title, the accepted values, and the meaning of an empty answer. */
  readonly label: string;
  /** The texts that fit, when the field lists them. */
  readonly choices: readonly string[] | undefined;
  /** The form can be sent without this value, or proposes one. */
  readonly mayBeEmpty: boolean;
  /** The value of a text, or why it is invalid. */
  parse(text: string): { readonly value: Value | undefined } | { readonly problem: string };
}

/** The fields of a form in their order; INVALID_ARGUMENT for a schema by which values cannot be checked. */
export function fieldsOf(schema: Schema): readonly FormField[] {
  const required: readonly unknown[] = Array.isArray(schema?.["required"]) ? schema["required"] : [];
  return Object.entries<FieldSchema>(Object(schema?.["properties"])).map(([name, field]) =>
    toField(name, field, required.includes(name)),
  );
}

/** Asks for the values one by one, each until it fits; undefined when the person leaves the form. */
export async function fillIn(
  schema: Schema,
  read: (label: string, field: FormField) => Promise<string | undefined>,
): Promise<FormValues | undefined> {
  const values: Record<string, Value> = {};
  for (const field of fieldsOf(schema)) {
    let parsed: ReturnType<FormField["parse"]> | undefined;
    while (!parsed || "problem" in parsed) {
      const text = await read(parsed ? `${parsed.problem}. ${field.label}` : field.label, field);
      if (text === undefined) return undefined;
      parsed = field.parse(text);
    }
    if (parsed.value !== undefined) values[field.name] = parsed.value;
  }
  return values;
}

/** Values given as `name=text`; INVALID_ARGUMENT names those that do not fit. */
export function parseValues(schema: Schema, words: readonly string[]): FormValues {
  const fields = fieldsOf(schema);
  const values = words.map((word): [string, Value] => {
    const [, name = word, text = ""] = /^([^=]*)=(.*)$/s.exec(word) ?? [];
    const parsed = fields.find((field) => field.name === name)?.parse(text);
    if (parsed && "problem" in parsed) throw invalidArgument(name, `${name}: ${parsed.problem}`);
    // A name that is not a field is refused with the answer.
    return [name, parsed?.value ?? text];
  });
  return Object.fromEntries(values);
}

/** The values with those that the form proposes, or the fields that do not fit. */
export function checkValues(
  schema: Schema,
  content: unknown = {},
): { readonly content: FormValues } | { readonly issues: Issue[] } {
  const fields = Object.keys(Object(schema?.["properties"]));
  const unknown = Object.keys(Object(content)).filter((name) => !fields.includes(name));
  const message = `is not a field of this form; fields: ${fields.join(", ") || "none"}`;
  if (unknown.length > 0) return { issues: unknown.map((path) => ({ path, message })) };
  const properties = Object.entries<FieldSchema>(Object(schema?.["properties"]));
  const plain = Object.fromEntries(properties.map(([name, { pattern: _, ...field }]) => [name, field]));
  const checker = toChecker({ type: "object", ...schema, properties: plain });
  const { success, data, error } = checker.safeParse(content);
  if (success) {
    // Values that passed the schema of a form have one of its types.
    const values = data as FormValues;
    const issues = properties.flatMap(([path, field]) =>
      patternProblems(field, values[path]).map((text) => ({ path, message: text })),
    );
    return issues.length > 0 ? { issues } : { content: values };
  }
  return { issues: error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message })) };
}

/** The parts of a field's JSON Schema that a person needs to know. */
interface FieldSchema {
  readonly type?: string;
  readonly pattern?: unknown;
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

/** Why a value does not match the pattern of its field. */
function patternProblems({ pattern }: FieldSchema, value: unknown): readonly string[] {
  if (pattern === undefined || typeof value !== "string") return [];
  const isMatch = matchPattern(String(pattern), value);
  if (isMatch === true) return [];
  return [isMatch === false ? `must match ${pattern}` : `the pattern ${pattern} takes too long to check`];
}

/** Patterns of other programs are never run by zod, which cannot interrupt them. */
function toChecker(schema: object): z.ZodType {
  if (hasPattern(schema))
    throw invalidArgument("schema", "the form cannot be shown: a pattern in a nested schema");
  try {
    // Not known to be a JSON Schema; zod throws for one that is not.
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw invalidArgument("schema", `the form cannot be shown: ${reason}`, { cause });
  }
}

const PATTERN_KEYS = ["pattern", "patternProperties"];

/** Whether a schema, or one inside it, has a pattern. Property names are not keywords. */
function hasPattern(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  if (Array.isArray(schema)) return schema.some(hasPattern);
  return Object.entries(schema).some(
    ([key, value]) =>
      PATTERN_KEYS.includes(key) ||
      (key === "properties" ? Object.values(Object(value)).some(hasPattern) : hasPattern(value)),
  );
}

function checkPattern({ pattern }: FieldSchema): void {
  if (pattern === undefined) return;
  try {
    new RegExp(String(pattern));
  } catch (cause) {
    throw invalidArgument("schema", `the form cannot be shown: ${pattern} is not a pattern`, { cause });
  }
}

function toField(name: string, field: FieldSchema, isRequired: boolean): FormField {
  const { pattern: _, ...plain } = field;
  const checker = toChecker(plain);
  checkPattern(field);
  const { default: proposed } = field;
  const mayBeEmpty = proposed !== undefined || !isRequired;
  return {
    name,
    label: toLabel(name, field, isRequired),
    choices: field.type === "boolean" ? ["yes", "no"] : choicesOf(field),
    mayBeEmpty,
    parse(text) {
      if (text.trim() === "") return mayBeEmpty ? { value: proposed } : { problem: "this value is required" };
      const { success, data, error } = checker.safeParse(toValue(text.trim(), field.type));
      if (!success) return { problem: error.issues.map(({ message }) => message).join("; ") };
      const [problem] = patternProblems(field, data);
      // A value that passed the field's own schema has one of the types of a form.
      return problem === undefined ? { value: data as Value } : { problem };
    },
  };
}

const choicesOf = ({ enum: listed, oneOf }: FieldSchema): readonly string[] | undefined =>
  listed ?? oneOf?.map((one) => one.const);

function toLabel(name: string, field: FieldSchema, isRequired: boolean): string {
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
